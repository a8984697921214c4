import { HEADER_BYTES } from "#wire/dns/codes.ts";
import { lowerCaseInto, NAME_BYTES_MAX } from "#wire/dns/name.ts";
import type { EdnsClass } from "#nameserver/message/exchange.ts";

export const TYPE_AND_CLASS_BYTES = 4;
const scratch = Buffer.alloc(NAME_BYTES_MAX + TYPE_AND_CLASS_BYTES + 1);

/**
 * The cache key: the name between `nameStart` and `nameEnd` in lower case, type, class and EDNS class. The name must be
 * complete and at most 255 bytes long.
 */
export function cacheKey(
  packet: Uint8Array,
  nameStart: number,
  nameEnd: number,
  type: number,
  questionClass: number,
  ednsClass: EdnsClass,
): string {
  const length = nameEnd - nameStart;
  lowerCaseInto(scratch, packet, nameStart, length);
  scratch[length] = type >> 8;
  scratch[length + 1] = type;
  scratch[length + 2] = questionClass >> 8;
  scratch[length + 3] = questionClass;
  scratch[length + 4] = ednsClass;
  return scratch.toString("latin1", 0, length + 5);
}

/** Hash of a key without its last byte, combined with that byte; ignores the case of letters. */
export function slotOf(bytes: Uint8Array, start: number, end: number, ednsClass: number): number {
  let hash = ednsClass;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word =
      (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
    hash = Math.imul(hash ^ (word | CASE_BITS), HASH_FACTOR);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ ((bytes[at] as number) | (CASE_BITS & 0xff)), HASH_FACTOR);
  return hash ^ (hash >>> 15);
}

/** Set in every byte. Bytes that differ only in this bit share a slot. */
const CASE_BITS = 0x20202020;
/** Constant of MurmurHash3. */
const HASH_FACTOR = 0xcc9e2d51;

/**
 * Whether the message, whose name is spelled as in `cacheKey`, asks the same question as the packet between `nameStart`
 * and the class after `nameEnd`.
 */
export function asksSame(message: Uint8Array, packet: Uint8Array, nameStart: number, nameEnd: number): boolean {
  const nameBytes = nameEnd - nameStart;
  if (message.length < HEADER_BYTES + nameBytes + TYPE_AND_CLASS_BYTES) return false;
  for (let i = 0; i < nameBytes; i++) {
    const byte = packet[nameStart + i] as number;
    const known = message[HEADER_BYTES + i];
    // Few clients use upper case letters (RFC 4343 §3).
    if (byte !== known && (byte < 0x41 || byte > 0x5a || (byte | 0x20) !== known)) return false;
  }
  for (let i = nameBytes; i < nameBytes + TYPE_AND_CLASS_BYTES; i++) if (packet[nameStart + i] !== message[HEADER_BYTES + i]) return false;
  return true;
}

export const u16 = (bytes: Uint8Array, at: number): number => ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
