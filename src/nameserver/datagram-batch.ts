import type { Clock } from "#kernel/clock.ts";
import { isMapped } from "#kernel/ip.ts";
import { createDatagram, type Datagram, OUTPUT_BYTES } from "./datagram.ts";
import { AF_INET6, type SystemSockets } from "./system-sockets.ts";

/**
 * Room for datagrams that are received together, and for the answers that are sent together. Each slot holds one
 * datagram and its answer. Nothing is allocated after it is made.
 */
export interface DatagramBatch {
  /** The datagram in the slot, until the next one is looked at: it is the same object every time. */
  datagram(slot: number): Datagram;
  /** How many datagrams were waiting and are here now, at most DATAGRAMS_MAX. Forgets those before and their answers. */
  receive(fd: number): number;
  /** The socket address that the datagram in the slot came from, in memory of its own. */
  nameOf(slot: number): Uint8Array;
  /** The output of the slot is to be sent to where its input came from. */
  answer(slot: number, bytes: number): void;
  /** Sends the answers; how many the system would not take. */
  send(fd: number): number;
}

/** The kernel's own bound is 1024; more than this gains nothing and lets answers wait for each other. */
export const DATAGRAMS_MAX = 64;

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
/** struct sockaddr_in and sockaddr_in6. */
const IPV4_NAME_BYTES = 16;
const IPV6_NAME_BYTES = 28;
const NAME_STRIDE = 32;
// Strides that are no power of two: slots would otherwise compete for the same lines of the processor's cache.
const INPUT_BYTES = 4096 + 64;
const OUTPUT_STRIDE = OUTPUT_BYTES + 64;

/** For a socket of the family, whose peers all have addresses of the one length. */
export function createDatagramBatch(sockets: SystemSockets, family: 4 | 6, clock: Clock): DatagramBatch {
  const nameBytes = family === 4 ? IPV4_NAME_BYTES : IPV6_NAME_BYTES;
  const input = slab(INPUT_BYTES);
  const output = slab(OUTPUT_STRIDE);
  const names = slab(NAME_STRIDE);
  const received = createHeaders(sockets, names, nameBytes, input, INPUT_BYTES);
  const answers = createHeaders(sockets, names, nameBytes, output, OUTPUT_STRIDE);
  const datagram = createDatagram(input, names, output);
  let answered = 0;

  return {
    datagram: (slot) => {
      const name = slot * NAME_STRIDE;
      const address = addressAt(names, name);
      datagram.start = slot * INPUT_BYTES;
      datagram.length = received.words[slot * HEADER_WORDS + RECEIVED] as number;
      datagram.port = ((names[name + 2] as number) << 8) | (names[name + 3] as number);
      datagram.addressStart = address;
      datagram.addressBytes = address === name + IPV6_AT ? 16 : 4;
      datagram.outStart = slot * OUTPUT_STRIDE;
      return datagram;
    },
    receive: (fd) => {
      answered = 0;
      const count = Math.max(0, sockets.receive(fd, received.bytes, DATAGRAMS_MAX));
      // Once for all of them: the time costs as much as a part of an answer.
      datagram.receivedMs = clock.nowMs();
      return count;
    },
    nameOf: (slot) => Uint8Array.from(names.subarray(slot * NAME_STRIDE, slot * NAME_STRIDE + nameBytes)),
    answer: (slot, bytes) => {
      answers.point(answered, slot, bytes);
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

/** In struct sockaddr_in and sockaddr_in6, behind the family and the port in the order of the network (ip(7), ipv6(7)). */
const IPV4_AT = 4;
const IPV6_AT = 8;

/** Where the address stands in the name at `name`; of an IPv4 one on a socket for both its last 4 bytes. */
function addressAt(names: Buffer, name: number): number {
  // The machine's order is little-endian, and no family has a second byte.
  if (names[name] !== AF_INET6) return name + IPV4_AT;
  return name + IPV6_AT + (isMapped(names, name + IPV6_AT) ? 12 : 0);
}

// Memory of its own, outside Node's pool, and touched once so that no page is missing later.
const slab = (stride: number): Buffer => Buffer.alloc(DATAGRAMS_MAX * stride);

/** Message headers whose slot `i` carries the name and the bytes of slot `i`. The kernel follows their addresses. */
function createHeaders(sockets: SystemSockets, names: Buffer, nameBytes: number, payload: Buffer, payloadStride: number) {
  const bytes = slab(HEADER_WORDS * 4);
  const vectors = slab(IOV_WORDS * 4);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, DATAGRAMS_MAX * HEADER_WORDS);
  const vectorWords = new Uint32Array(vectors.buffer, vectors.byteOffset, DATAGRAMS_MAX * IOV_WORDS);
  const nameAddresses = addresses(sockets.addressOf(names), NAME_STRIDE);
  const payloadAddresses = addresses(sockets.addressOf(payload), payloadStride);
  const vectorAddresses = addresses(sockets.addressOf(vectors), IOV_WORDS * 4);
  /** Most batches leave no datagram unanswered: then each header goes on pointing at its own slot. */
  const slots = new Uint8Array(DATAGRAMS_MAX).fill(DATAGRAMS_MAX);
  const point = (header: number, slot: number, payloadBytes: number): void => {
    vectorWords[header * IOV_WORDS + IOV_LENGTH] = payloadBytes;
    if (slots[header] === slot) return;
    slots[header] = slot;
    copyAddress(words, header * HEADER_WORDS + NAME, nameAddresses, slot);
    copyAddress(vectorWords, header * IOV_WORDS, payloadAddresses, slot);
  };
  for (let slot = 0; slot < DATAGRAMS_MAX; slot++) {
    copyAddress(words, slot * HEADER_WORDS + IOV, vectorAddresses, slot);
    words[slot * HEADER_WORDS + IOV_COUNT] = 1;
    // As room for a name and as the length of one that was written there it is the same number.
    words[slot * HEADER_WORDS + NAME_LENGTH] = nameBytes;
    point(slot, slot, payloadStride);
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
