import type { Clock } from "#kernel/clock.ts";
import { isMapped } from "#kernel/net/ip.ts";
import { createAnswerRuns } from "./gso-batch.ts";
import { createMessageHeaders, DATAGRAMS_MAX, NAME_STRIDE, slab } from "./mmsghdr.ts";
import { createDatagram, type Datagram, OUTPUT_BYTES } from "#nameserver/message/datagram.ts";
import { LINUX, STRUCTS } from "#wire/native/linux.ts";
import type { SystemSockets } from "./system-sockets.ts";

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

const { bytes: IPV4_NAME_BYTES, sin_addr: IPV4_AT, sin_port: PORT_AT } = STRUCTS.sockaddr_in;
const { bytes: IPV6_NAME_BYTES, sin6_addr: IPV6_AT } = STRUCTS.sockaddr_in6;
// Strides that are no power of two: slots would otherwise compete for the same lines of the processor's cache.
const INPUT_STRIDE = 4096 + 64;
const OUTPUT_STRIDE = OUTPUT_BYTES + 64;

/** For a socket of the family, whose peers all have addresses of the one length. */
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
      // Once for all of them: the time costs as much as a part of an answer.
      datagram.receivedMs = clock.nowMs();
      return count;
    },
    nameOf: (slot) => Uint8Array.from(names.subarray(slot * NAME_STRIDE, slot * NAME_STRIDE + nameBytes)),
    answer: answers.add,
    send: answers.send,
  };
}

/** Where the address stands in the name at `name`; of an IPv4 one on a socket for both its last 4 bytes. */
function addressAt(names: Buffer, name: number): number {
  // The machine's order is little-endian, and no family has a second byte.
  if (names[name] !== LINUX.AF_INET6) return name + IPV4_AT;
  return name + IPV6_AT + (isMapped(names, name + IPV6_AT) ? 12 : 0);
}
