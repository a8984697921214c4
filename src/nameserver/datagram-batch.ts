import { unmapIp } from "#kernel/ip.ts";
import type { Client } from "./client.ts";
import { AF_INET6, type SystemSockets } from "./system-sockets.ts";

/**
 * Room for datagrams that are received together, and for the answers that are sent together. Slot `i` of the input
 * is answered in slot `i` of the output. Nothing is allocated after it is made.
 */
export interface DatagramBatch {
  readonly input: Buffer;
  readonly output: Buffer;
  inputStart(slot: number): number;
  /** Bytes of the datagram in the slot; what was longer than the slot is cut off. */
  inputBytes(slot: number): number;
  /** Nobody listens on port 0: such a datagram is forged. */
  isForged(slot: number): boolean;
  /** Who sent the datagram in the slot, in memory of its own. */
  client(slot: number): Client;
  outputStart(slot: number): number;
  /** How many datagrams were waiting and are here now, at most DATAGRAMS_MAX. Forgets those before and their answers. */
  receive(fd: number): number;
  /** The output of the slot is to be sent to where its input came from. */
  answer(slot: number, bytes: number): void;
  /** Sends the answers; how many the system would not take. */
  send(fd: number): number;
}

/** The kernel's own bound is 1024; more than this gains nothing and lets answers wait for each other. */
export const DATAGRAMS_MAX = 64;

/** No answer over UDP is longer: it would be fragmented on the way. */
export const OUTPUT_BYTES = 1280;

/** struct msghdr and mmsghdr of LP64 systems, recvmmsg(2), in 32-bit words: name, its length, iov, its count, …, bytes received. */
const HEADER_WORDS = 16;
const NAME = 0;
const NAME_LENGTH = 2;
const IOV = 4;
const IOV_COUNT = 6;
const RECEIVED = 14;
/** struct iovec: address and length. */
const IOV_WORDS = 4;
const IOV_LENGTH = 2;
/** The larger of sockaddr_in and sockaddr_in6. */
const NAME_BYTES = 28;
const NAME_STRIDE = 32;
// Strides that are no power of two: slots would otherwise compete for the same lines of the processor's cache.
const INPUT_BYTES = 4096 + 64;
const OUTPUT_STRIDE = OUTPUT_BYTES + 64;

export function createDatagramBatch(sockets: SystemSockets): DatagramBatch {
  const input = slab(INPUT_BYTES);
  const output = slab(OUTPUT_STRIDE);
  const names = slab(NAME_STRIDE);
  const received = createHeaders(sockets, names, input, INPUT_BYTES);
  const answers = createHeaders(sockets, names, output, OUTPUT_STRIDE);
  let answered = 0;
  let receivedBefore = DATAGRAMS_MAX;

  return {
    input,
    output,
    inputStart: (slot) => slot * INPUT_BYTES,
    inputBytes: (slot) => received.words[slot * HEADER_WORDS + RECEIVED] as number,
    isForged: (slot) => names[slot * NAME_STRIDE + 2] === 0 && names[slot * NAME_STRIDE + 3] === 0,
    client: (slot) => clientAt(names, slot * NAME_STRIDE),
    outputStart: (slot) => slot * OUTPUT_STRIDE,
    receive: (fd) => {
      answered = 0;
      // The kernel has written how long each name is where it reads how much room there is.
      for (let slot = 0; slot < receivedBefore; slot++) received.words[slot * HEADER_WORDS + NAME_LENGTH] = NAME_BYTES;
      receivedBefore = Math.max(0, sockets.receive(fd, received.bytes, DATAGRAMS_MAX));
      return receivedBefore;
    },
    answer: (slot, bytes) => {
      answers.point(answered, slot, bytes, received.words[slot * HEADER_WORDS + NAME_LENGTH] as number);
      answered += 1;
    },
    send: (fd) => {
      let failed = 0;
      for (let at = 0; at < answered;) {
        const rest = at === 0 ? answers.bytes : answers.bytes.subarray(at * HEADER_WORDS * 4);
        const sent = sockets.send(fd, rest, answered - at);
        // The first of the rest is refused, and those behind it are tried without it.
        at += sent > 0 ? sent : 1;
        if (sent <= 0) failed += 1;
      }
      return failed;
    },
  };
}

/** Of a struct sockaddr_in or sockaddr_in6: family, port and address in the order of the network (ip(7), ipv6(7)). */
function clientAt(names: Buffer, at: number): Client {
  const family = names.readUInt16LE(at) === AF_INET6 ? 6 : 4;
  const bytes = family === 6 ? names.subarray(at + 8, at + 24) : names.subarray(at + 4, at + 8);
  return { transport: "udp", address: Uint8Array.from(unmapIp({ family, bytes }).bytes), port: names.readUInt16BE(at + 2) };
}

// Memory of its own, outside Node's pool, and touched once so that no page is missing later.
const slab = (stride: number): Buffer => Buffer.alloc(DATAGRAMS_MAX * stride);

/** Message headers whose slot `i` carries the name and the bytes of slot `i`. The kernel follows their addresses. */
function createHeaders(sockets: SystemSockets, names: Buffer, payload: Buffer, payloadStride: number) {
  const bytes = slab(HEADER_WORDS * 4);
  const vectors = slab(IOV_WORDS * 4);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, DATAGRAMS_MAX * HEADER_WORDS);
  const vectorWords = new Uint32Array(vectors.buffer, vectors.byteOffset, DATAGRAMS_MAX * IOV_WORDS);
  const nameAddresses = addresses(sockets.addressOf(names), NAME_STRIDE);
  const payloadAddresses = addresses(sockets.addressOf(payload), payloadStride);
  const vectorAddresses = addresses(sockets.addressOf(vectors), IOV_WORDS * 4);
  const point = (header: number, slot: number, payloadBytes: number, nameBytes: number): void => {
    copyAddress(words, header * HEADER_WORDS + NAME, nameAddresses, slot);
    words[header * HEADER_WORDS + NAME_LENGTH] = nameBytes;
    copyAddress(vectorWords, header * IOV_WORDS, payloadAddresses, slot);
    vectorWords[header * IOV_WORDS + IOV_LENGTH] = payloadBytes;
  };
  for (let slot = 0; slot < DATAGRAMS_MAX; slot++) {
    copyAddress(words, slot * HEADER_WORDS + IOV, vectorAddresses, slot);
    words[slot * HEADER_WORDS + IOV_COUNT] = 1;
    point(slot, slot, payloadStride, NAME_BYTES);
  }
  // The kernel's use of this memory is invisible to the garbage collector: whoever holds the headers holds it all.
  return { bytes, words, point, holds: [names, payload, vectors] };
}

/** The addresses of all slots, as pairs of 32-bit words in the order of the machine, which is little-endian. */
function addresses(base: bigint, stride: number): Uint32Array {
  const each = BigUint64Array.from({ length: DATAGRAMS_MAX }, (_, slot) => base + BigInt(slot * stride));
  return new Uint32Array(each.buffer);
}

function copyAddress(words: Uint32Array, at: number, from: Uint32Array, slot: number): void {
  words[at] = from[slot * 2] as number;
  words[at + 1] = from[slot * 2 + 1] as number;
}
