import { createSocket } from "node:dgram";
import { once } from "node:events";

/** Options of the program, as JSON in its first argument. */
export interface UdpFlood {
  /** Whose answers these will be: the host must have these addresses, the network need not know them here. */
  readonly sources: readonly string[];
  readonly target: string;
  readonly port: number;
  /** Packets in rotation, in hexadecimal; the first two bytes differ in each. */
  readonly messages: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

/** Prints when it starts, and when its standard input ends, the number of messages and bytes sent. */
const TICK_MS = 5;

const flood = JSON.parse(process.argv[2] as string) as UdpFlood;
const messages = flood.messages.map((hex) => Buffer.from(hex, "hex"));
const sockets = await Promise.all(
  flood.sources.map(async (address) => {
    const socket = createSocket("udp4");
    socket.on("error", () => {});
    socket.bind(0, address);
    await once(socket, "listening");
    return socket;
  }),
);
console.log(JSON.stringify({ started: true }));

let sent = 0;
let bytes = 0;
const send = (): void => {
  const message = Buffer.from(messages[sent % messages.length] as Buffer);
  message.writeUInt16BE(sent & 0xffff, 0);
  sockets[sent % sockets.length]?.send(message, flood.port, flood.target, () => {});
  sent += 1;
  bytes += message.length;
};
const began = performance.now();
const timer = setInterval(() => {
  const elapsedMs = Math.min(performance.now() - began, flood.seconds * 1000);
  for (const due = (elapsedMs * flood.perSecond) / 1000; sent < due;) send();
  if (elapsedMs >= flood.seconds * 1000) clearInterval(timer);
}, TICK_MS);
process.stdin.resume().on("end", () => {
  console.log(JSON.stringify({ sent, bytes }));
  process.exit(0);
});
