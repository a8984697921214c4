import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { CLASS } from "#wire/dns/codes.ts";
import { encodeMessage } from "#wire/dns/message.ts";
import { type DnsName, parseAbsoluteName } from "#wire/dns/name.ts";
import { PATIENCE_MS } from "./eventually.ts";

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

/** Queries of a burst; data waiting in sockets must not be lost. */
const BURST = 50;

/** Sends all queries over UDP, some at a time; returns the responses in the order of the queries, whose IDs must differ. */
export async function askUdp(
  port: number,
  queries: readonly Buffer[],
  timeoutMs = PATIENCE_MS,
  host = "127.0.0.1",
): Promise<readonly Buffer[]> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  const byId = new Map<number, Buffer>();
  const idOf = (message: Buffer): number => message.readUInt16BE(0);
  try {
    for (let start = 0; start < queries.length; start += BURST) {
      const burst = queries.slice(start, start + BURST);
      const waiting = new Set(burst.map(idOf));
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const overdue = setTimeout(() => reject(new Error(`${waiting.size} questions were not answered`)), timeoutMs);
      socket.on("message", (response) => {
        byId.set(idOf(response), response);
        waiting.delete(idOf(response));
        if (waiting.size === 0) resolve();
      });
      for (const query of burst) socket.send(query, port, host);
      await promise;
      clearTimeout(overdue);
      socket.removeAllListeners("message");
    }
    return queries.map((query) => byId.get(idOf(query)) as Buffer);
  } finally {
    socket.close();
  }
}

/** Sends all queries at once over one TCP connection; returns the responses in the order of the queries, whose IDs must differ. */
export async function askTcp(
  port: number,
  queries: readonly Buffer[],
  timeoutMs = PATIENCE_MS,
  host = "127.0.0.1",
): Promise<readonly Buffer[]> {
  if (queries.length === 0) return [];
  const socket = connect(port, host);
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
