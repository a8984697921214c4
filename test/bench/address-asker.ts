import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

/** Asks a nameserver for addresses, many at once. */
export interface AddressAsker {
  /** The IPv4 address of the name; null if none came in time. */
  ask(name: string): Promise<string | null>;
  close(): void;
}

/** The kernel spreads them over the threads of a nameserver. */
const SOCKETS = 4;
const TIMEOUT_MS = 2_000;
const HEADER = Buffer.from("000001000001000000000000", "hex");
const A_IN = Buffer.from("0000010001", "hex");

export async function openAddressAsker(port: number): Promise<AddressAsker> {
  const waiting = new Map<number, (answer: Buffer | null) => void>();
  const sockets: Socket[] = [];
  for (let i = 0; i < SOCKETS; i++) {
    const socket = createSocket("udp4");
    socket.connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.on("message", (answer) => waiting.get(answer.readUInt16BE(0))?.(answer));
    // The server may end before its last answer.
    socket.on("error", () => undefined);
    sockets.push(socket);
  }
  const questions = new Map<string, Buffer>();
  let next = 0;
  return {
    ask: async (name) => {
      let question = questions.get(name);
      if (question === undefined) questions.set(name, (question = questionFor(name)));
      next = (next + 1) & 0xffff;
      const id = next;
      const sent = Buffer.from(question);
      sent.writeUInt16BE(id, 0);
      const { promise, resolve } = Promise.withResolvers<Buffer | null>();
      const timer = setTimeout(resolve, TIMEOUT_MS, null);
      waiting.set(id, resolve);
      sockets[id % SOCKETS]?.send(sent);
      const answer = await promise;
      clearTimeout(timer);
      waiting.delete(id);
      // The address is at the end of the answer, because the query has no EDNS.
      return answer === null || answer.readUInt16BE(6) === 0 ? null : [...answer.subarray(-4)].join(".");
    },
    close: () => sockets.forEach((socket) => socket.close()),
  };
}

function questionFor(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]));
  return Buffer.concat([HEADER, ...labels, A_IN]);
}
