import { FLAG, HEADER_BYTES, OPCODE_MASK, TYPE } from "#wire/dns/codes.ts";
import { LABEL_BYTES_MAX, NAME_BYTES_MAX } from "#wire/dns/name.ts";
import { type AnswerCache, cacheKey, fillIn } from "./answer-cache.ts";
import type { Counters } from "./counters.ts";
import { boundPayload, PAYLOAD_BYTES_MIN } from "./respond.ts";

/**
 * Answers the message of `length` bytes at `start` of `packet` into `out` at `outStart`, where its answer is known
 * already, and returns the answer's length. 0 where the message is unusual or the answer unknown: `Respond` has the
 * say then. What is written is what `Respond` would have returned, without an allocation.
 */
export type QuickAnswer = (packet: Buffer, start: number, length: number, out: Buffer, outStart: number) => number;

export interface QuickAnswersDeps {
  readonly cache: AnswerCache;
  readonly counters: Counters;
}

/** What an OPT record takes before its options (RFC 6891 §6.1.2), its owner being the root. */
const OPT_HEAD_BYTES = 11;
/** Root name, type and class. */
const QUESTION_BYTES_MIN = 5;
const NOT_A_QUERY = (FLAG.QR | OPCODE_MASK) >> 8;

export function createQuickAnswers({ cache, counters }: QuickAnswersDeps): QuickAnswer {
  return (packet, start, length, out, outStart) => {
    if (length < HEADER_BYTES + QUESTION_BYTES_MIN || ((packet[start + 2] as number) & NOT_A_QUERY) !== 0) return 0;
    // One question, no answers, no authorities.
    if (u16(packet, start + 4) !== 1 || u16(packet, start + 6) !== 0 || u16(packet, start + 8) !== 0) return 0;
    const end = start + length;
    const nameStart = start + HEADER_BYTES;
    const nameEnd = skipName(packet, nameStart, end);
    if (nameEnd === 0 || nameEnd + 4 > end) return 0;

    let ednsClass: 0 | 1 | 2 = 0;
    let bytesMax = PAYLOAD_BYTES_MIN;
    const extra = nameEnd + 4;
    const additionals = u16(packet, start + 10);
    if (additionals === 1) {
      if (!isPlainOpt(packet, extra, end)) return 0;
      bytesMax = boundPayload(u16(packet, extra + 3));
      ednsClass = ((packet[extra + 7] as number) & 0x80) === 0 ? 1 : 2;
    } else if (additionals !== 0 || extra !== end) return 0;

    const cached = cache.get(cacheKey(packet, nameStart, nameEnd, u16(packet, nameEnd), u16(packet, nameEnd + 2), ednsClass));
    if (cached === undefined || cached.bytes.length > bytesMax) return 0;
    fillIn(cached, packet, start, nameEnd, out, outStart);
    counters.queries.udp.value += 1;
    counters.cacheHits.value += 1;
    counters.responses(u16(out, outStart + 2));
    return cached.bytes.length;
  };
}

const u16 = (bytes: Uint8Array, at: number): number => ((bytes[at] as number) << 8) | (bytes[at + 1] as number);

/** Where the uncompressed name ends; 0 where there is none. */
function skipName(packet: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end;) {
    const label = packet[at] as number;
    if (label > LABEL_BYTES_MAX) return 0;
    at += label + 1;
    if (label === 0) return at - start <= NAME_BYTES_MAX ? at : 0;
  }
  return 0;
}

/** Whether an OPT record of version 0 is all that stands between `at` and `end`; its options are passed over. */
function isPlainOpt(packet: Uint8Array, at: number, end: number): boolean {
  if (at + OPT_HEAD_BYTES > end || packet[at] !== 0 || u16(packet, at + 1) !== TYPE.OPT || packet[at + 6] !== 0) return false;
  let option = at + OPT_HEAD_BYTES;
  if (option + u16(packet, at + 9) !== end) return false;
  while (option + 4 <= end) option += 4 + u16(packet, option + 2);
  return option === end;
}
