import { createSocket } from "node:dgram";
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";

// The client of `dns-fuzz`, in a separate process: packets that are all different, with every kind of error.

export interface PacketLoad {
  readonly host: string;
  readonly port: number;
  readonly packets: number;
  /** The same packets for the same seed. */
  readonly seed: number;
  /** The zone that some of them ask about. */
  readonly zone: string;
}

export interface PacketLoadResult {
  readonly sent: number;
  readonly answered: number;
  readonly seconds: number;
}

const PACKET_BYTES_MAX = 512;
const SENT_AT_ONCE = 32;

const load = JSON.parse(process.argv[2] ?? "{}") as PacketLoad;
let state = load.seed >>> 0 || 1;

/** xorshift32: quick, and the same everywhere. */
function random(below: number): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  state >>>= 0;
  return state % below;
}

const buffer = Buffer.alloc(PACKET_BYTES_MAX);

const noise = (length: number): number => {
  for (let i = 0; i < length; i++) buffer[i] = random(256);
  return length;
};

const zoneName = Buffer.concat([
  ...load.zone.split(".").map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)])),
  Buffer.of(0),
]);
const TYPES = [1, 2, 5, 6, 15, 16, 28, 33, 39, 41, 43, 46, 47, 48, 65, 128, 249, 250, 251, 252, 255, 257];

/** A well-formed question for a random name of the zone, with or without an OPT record. */
function question(): number {
  buffer.fill(0, 0, 12);
  buffer.writeUInt16BE(random(65_536), 0);
  buffer.writeUInt16BE(1, 4);
  const label = 1 + random(40);
  buffer[12] = label;
  for (let i = 0; i < label; i++) buffer[13 + i] = random(256);
  let at = 13 + label + zoneName.copy(buffer, 13 + label);
  at = buffer.writeUInt16BE(TYPES[random(TYPES.length)] ?? 1, at);
  at = buffer.writeUInt16BE(random(8) === 0 ? random(65_536) : 1, at);
  if (random(2) === 0) return at;
  buffer.writeUInt16BE(1, 10);
  buffer[at] = 0;
  at = buffer.writeUInt16BE(41, at + 1);
  at = buffer.writeUInt16BE(random(65_536), at);
  at = buffer.writeUInt32BE(random(4) === 0 ? random(0xffff_ffff) : 0x8000, at);
  const options = random(4) === 0 ? random(60) : 0;
  at = buffer.writeUInt16BE(options, at);
  for (let i = 0; i < options; i++) buffer[at + i] = random(256);
  return at + options;
}

/** A question with some of its bytes changed. */
function damaged(): number {
  const length = question();
  for (let changes = 1 + random(6); changes > 0; changes--) buffer[random(length)] = random(256);
  return length;
}

const KINDS: readonly (() => number)[] = [
  question,
  damaged,
  damaged,
  () => random(question() + 1),
  () => noise(random(PACKET_BYTES_MAX)),
  // A valid query, followed by noise: it passes the first check.
  () => {
    const length = Math.max(13, noise(random(200)));
    buffer.writeUInt16BE(random(16) === 0 ? random(65_536) & 0x7fff : 0, 2);
    buffer.writeUInt16BE(1, 4);
    return length;
  },
];

const socket = createSocket("udp4");
let answered = 0;
socket.on("message", () => answered++);
// If the server has ended, its count of received packets shows it.
socket.on("error", () => undefined);
socket.connect(load.port, load.host);
await once(socket, "connect");
const started = performance.now();
let sent = 0;
while (sent < load.packets) {
  for (let i = 0; i < SENT_AT_ONCE && sent < load.packets; i++, sent++)
    socket.send(Buffer.from(buffer.subarray(0, KINDS[random(KINDS.length)]?.() ?? 0)));
  await setImmediate();
}
const seconds = (performance.now() - started) / 1000;
console.log(JSON.stringify({ sent, answered, seconds } satisfies PacketLoadResult));
socket.close();
