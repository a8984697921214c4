import { LINUX, STRUCTS } from "#wire/native/linux.ts";
import type { SystemSockets } from "./system-sockets.ts";

/** More per call gains nothing and delays answers; the kernel's own limit is 1024. */
export const DATAGRAMS_MAX = 64;

/** Bytes per slot for its socket address. */
export const NAME_STRIDE = 32;

/** Memory for one item per slot, not shared with Node.js's pool. */
export const slab = (stride: number): Buffer => Buffer.alloc(DATAGRAMS_MAX * stride);

/** The buffers that headers point to; the item of slot `i` is at `i` times the stride. */
export interface SlotMemory {
  readonly names: Buffer;
  /** Bytes of a socket address of the socket's family. */
  readonly nameBytes: number;
  readonly payload: Buffer;
  readonly payloadStride: number;
}

/** The headers of recvmmsg(2) and sendmmsg(2), in memory that the kernel reads and writes. */
export interface MessageHeaders {
  /** Memory address of the first header, and the distance between two headers. */
  readonly address: number;
  readonly strideBytes: number;
  /** Number of bytes received with the header. */
  receivedBytes(header: number): number;
  /**
   * Points the header to the slot's peer and to `count` parts from `part` on. Each segment except the last has
   * `segmentBytes`; 0: one datagram.
   */
  point(header: number, slot: number, part: number, count: number, segmentBytes: number): void;
  /** Sets the part to the first `bytes` of the slot's payload. */
  setPart(part: number, slot: number, bytes: number): void;
  /** Keeps all buffers alive: the garbage collector does not see that the kernel uses them. */
  readonly holds: readonly Uint8Array[];
}

const { msghdr, mmsghdr, iovec, cmsghdr } = STRUCTS;
// Offsets in 32-bit words.
const HEADER_WORDS = mmsghdr.bytes / 4;
const NAME = msghdr.msg_name / 4;
const NAME_LENGTH = msghdr.msg_namelen / 4;
const IOV = msghdr.msg_iov / 4;
const IOV_COUNT = msghdr.msg_iovlen / 4;
const CONTROL = msghdr.msg_control / 4;
const CONTROL_LENGTH = msghdr.msg_controllen / 4;
const RECEIVED = mmsghdr.msg_len / 4;
const IOV_WORDS = iovec.bytes / 4;
const IOV_LENGTH = iovec.iov_len / 4;
/** struct cmsghdr with the option UDP_SEGMENT (udp(7)): a 64-bit length, and a value of two bytes, padded to eight. */
const CONTROL_BYTES = cmsghdr.bytes + 8;
const CONTROL_WORDS = CONTROL_BYTES / 4;
const CONTROL_HEAD = [cmsghdr.bytes + 2, 0, LINUX.IPPROTO_UDP, LINUX.UDP_SEGMENT] as const;
const SEGMENT = cmsghdr.bytes / 4;

/** Initially, header `i` has one part: the whole payload of slot `i`. */
export function createMessageHeaders(sockets: SystemSockets, { names, nameBytes, payload, payloadStride }: SlotMemory): MessageHeaders {
  const [headers, parts, controls] = [slab(HEADER_WORDS * 4), slab(IOV_WORDS * 4), slab(CONTROL_BYTES)];
  const [headerWords, partWords, controlWords] = [wordsOf(headers), wordsOf(parts), wordsOf(controls)];
  const nameAddresses = addresses(sockets.addressOf(names), NAME_STRIDE);
  const payloadAddresses = addresses(sockets.addressOf(payload), payloadStride);
  const partAddresses = addresses(sockets.addressOf(parts), IOV_WORDS * 4);
  const controlAddresses = addresses(sockets.addressOf(controls), CONTROL_BYTES);

  const point = (header: number, slot: number, part: number, count: number, segmentBytes: number): void => {
    const at = header * HEADER_WORDS;
    copyAddress(headerWords, at + NAME, nameAddresses, slot);
    copyAddress(headerWords, at + IOV, partAddresses, part);
    headerWords[at + IOV_COUNT] = count;
    headerWords[at + CONTROL_LENGTH] = segmentBytes === 0 ? 0 : CONTROL_BYTES;
    controlWords[header * CONTROL_WORDS + SEGMENT] = segmentBytes;
  };
  const setPart = (part: number, slot: number, bytes: number): void => {
    copyAddress(partWords, part * IOV_WORDS, payloadAddresses, slot);
    partWords[part * IOV_WORDS + IOV_LENGTH] = bytes;
  };
  for (let slot = 0; slot < DATAGRAMS_MAX; slot++) {
    // The kernel reads it as the buffer size and overwrites it with the address length, which is the same.
    headerWords[slot * HEADER_WORDS + NAME_LENGTH] = nameBytes;
    copyAddress(headerWords, slot * HEADER_WORDS + CONTROL, controlAddresses, slot);
    controlWords.set(CONTROL_HEAD, slot * CONTROL_WORDS);
    point(slot, slot, slot, 1, 0);
    setPart(slot, slot, payloadStride);
  }
  return {
    address: sockets.addressOf(headers),
    strideBytes: HEADER_WORDS * 4,
    receivedBytes: (header) => headerWords[header * HEADER_WORDS + RECEIVED] as number,
    point,
    setPart,
    holds: [headers, parts, controls, names, payload],
  };
}

export const wordsOf = ({ buffer, byteOffset, length }: Buffer): Uint32Array => new Uint32Array(buffer, byteOffset, length / 4);

/** The addresses of all slots as pairs of 32-bit words in the machine's order, which is little-endian. */
function addresses(base: number, stride: number): Uint32Array {
  const each = BigUint64Array.from({ length: DATAGRAMS_MAX }, (_, slot) => BigInt(base + slot * stride));
  return new Uint32Array(each.buffer);
}

function copyAddress(words: Uint32Array, at: number, from: Uint32Array, slot: number): void {
  words[at] = from[slot * 2] as number;
  words[at + 1] = from[slot * 2 + 1] as number;
}
