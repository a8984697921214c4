import type { Clock } from "#kernel/clock.ts";
import { isMapped } from "#kernel/net/ip.ts";
import { createAnswerRuns } from "./gso-batch.ts";
import { createMessageHeaders, DATAGRAMS_MAX, NAME_STRIDE, slab } from "./mmsghdr.ts";
import { createDatagram, type Datagram, OUTPUT_BYTES } from "#nameserver/message/datagram.ts";
import { LINUX, STRUCTS } from "#wire/native/linux.ts";
import type { SystemSockets } from "./system-sockets.ts";

/**
 * Buffers for datagrams that are received together and for the answers that are sent together. Each slot holds one
 * datagram and its answer. Allocates only when it is created.
 */
export interface DatagramBatch {
  /** The datagram in the slot; the same object every time, valid until the next call. */
  datagram(slot: number): Datagram;
  /** Receives waiting datagrams, at most DATAGRAMS_MAX, and returns their number. Discards the previous batch and its answers. */
  receive(fd: number): number;
  /** A copy of the socket address that sent the datagram in the slot. */
  nameOf(slot: number): Uint8Array;
  /** Adds the slot's output, to be sent to the sender of its input. */
  answer(slot: number, bytes: number): void;
  /** Sends the answers; returns how many the system rejected. */
  send(fd: number): number;
}

const { bytes: IPV4_NAME_BYTES, sin_addr: IPV4_AT, sin_port: PORT_AT } = STRUCTS.sockaddr_in;
const { bytes: IPV6_NAME_BYTES, sin6_addr: IPV6_AT } = STRUCTS.sockaddr_in6;
// Strides that are not a power of two, so that slots do not compete for the same cache lines.
const INPUT_STRIDE = 4096 + 64;
const OUTPUT_STRIDE = OUTPUT_BYTES + 64;

/** For a socket of the family, so that all peers have addresses of the same length. */
export function createDatagramBatch(sockets: SystemSockets, family: 4 | 6, clock: Clock): DatagramBatch {
  const nameBytes = family === 4 ? IPV4_NAME_BYTES : IPV6_NAME_BYTES;
  const input = slab(INPUT_STRIDE);
  const output = slab(OUTPUT_STRIDE);
  const names = slab(NAME_STRIDE);
  const headers = createMessageHeaders(sockets, { names, nameBytes, payload: input, payloadStride: INPUT_STRIDE });
  const answers = createAnswerRuns(sockets, family, { names, nameBytes, payload: output, payloadStride: OUTPUT_STRIDE });
  const datagram = createDatagram(input, names, output);

  return {
    datagram: (slot) => {
      const name = slot * NAME_STRIDE;
      const address = addressAt(names, name);
      datagram.start = slot * INPUT_STRIDE;
      datagram.length = headers.receivedBytes(slot);
      datagram.port = ((names[name + PORT_AT] as number) << 8) | (names[name + PORT_AT + 1] as number);
      datagram.addressStart = address;
      datagram.addressBytes = address === name + IPV6_AT ? 16 : 4;
      datagram.outStart = slot * OUTPUT_STRIDE;
      return datagram;
    },
    receive: (fd) => {
      answers.clear();
      const count = Math.max(0, sockets.receive(fd, headers.address, DATAGRAMS_MAX));
      // The clock is read once per batch, because reading it takes a noticeable part of an answer's time.
      datagram.receivedMs = clock.nowMs();
      return count;
    },
    nameOf: (slot) => Uint8Array.from(names.subarray(slot * NAME_STRIDE, slot * NAME_STRIDE + nameBytes)),
    answer: answers.add,
    send: answers.send,
  };
}

/** Offset of the address in the socket address at `name`; for an IPv4 client of a dual-stack socket, of its last 4 bytes. */
function addressAt(names: Buffer, name: number): number {
  // The machine is little-endian, and both families fit into the first byte.
  if (names[name] !== LINUX.AF_INET6) return name + IPV4_AT;
  return name + IPV6_AT + (isMapped(names, name + IPV6_AT) ? 12 : 0);
}
