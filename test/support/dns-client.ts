import { once } from "node:events";
import { connect } from "node:net";
import { CLASS } from "#wire/dns/codes.ts";
import { encodeMessage } from "#wire/dns/message.ts";
import { type DnsName, parseAbsoluteName } from "#wire/dns/name.ts";

/** A question without EDNS or flags. */
export const queryFor = (name: string | DnsName, type: number, id: number): Buffer =>
  encodeMessage({
    id,
    flags: 0,
    questions: [{ name: typeof name === "string" ? parseAbsoluteName(name) : name, type, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  }) as Buffer;

/** Asks all at once over one TCP connection; the responses in the order of the questions, whose ids must differ. */
export async function askTcp(port: number, queries: readonly Buffer[], timeoutMs = 10_000): Promise<readonly Buffer[]> {
  if (queries.length === 0) return [];
  const socket = connect(port, "127.0.0.1");
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await once(socket, "connect", { signal });
    socket.write(Buffer.concat(queries.flatMap((query) => [Buffer.of(query.length >> 8, query.length & 0xff), query])));
    const byId = new Map<number, Buffer>();
    let bytes = Buffer.alloc(0);
    const overdue = setTimeout(() => socket.destroy(new Error(`${queries.length - byId.size} questions were not answered`)), timeoutMs);
    for await (const chunk of socket) {
      bytes = Buffer.concat([bytes, chunk as Buffer]);
      let at = 0;
      while (at + 2 <= bytes.length && at + 2 + bytes.readUInt16BE(at) <= bytes.length) {
        const response = Buffer.from(bytes.subarray(at + 2, at + 2 + bytes.readUInt16BE(at)));
        byId.set(response.readUInt16BE(0), response);
        at += 2 + response.length;
      }
      bytes = bytes.subarray(at);
      if (byId.size === queries.length) break;
    }
    clearTimeout(overdue);
    return queries.map((query) => {
      const response = byId.get(query.readUInt16BE(0));
      if (!response) throw new Error("the connection ended before all was answered");
      return response;
    });
  } finally {
    socket.destroy();
  }
}
