import type { Clock } from "#kernel/clock.ts";
import { FLAG, HEADER_BYTES, OPCODE_MASK, OPTION, TYPE } from "#wire/dns/codes.ts";
import { OPT_BYTES } from "#wire/dns/message.ts";
import { LABEL_BYTES_MAX, NAME_BYTES_MAX } from "#wire/dns/name.ts";
import { type AnswerCache, cacheKey, fillIn } from "./answer-cache.ts";
import { addToOptions, COOKIE_OPTION_BYTES, OPTION_HEAD_BYTES, writeCookieOption } from "./client-options.ts";
import { type Cookies, isCookieLength } from "./cookies.ts";
import type { Counters } from "./counters.ts";
import type { Datagram } from "./datagram-batch.ts";
import { boundPayload, PAYLOAD_BYTES_MIN } from "./exchange.ts";

/**
 * Answers the datagram into its output, where its answer is known already, and returns the answer's length. 0 where the
 * message is unusual or the answer unknown: `Respond` has the say then. What is written is what `Respond` would have
 * returned, without an allocation.
 */
export type QuickAnswer = (datagram: Datagram) => number;

export interface QuickAnswersDeps {
  readonly cache: AnswerCache;
  readonly counters: Counters;
  readonly cookies: Cookies;
  readonly clock: Clock;
}

/** Root name, type and class. */
const QUESTION_BYTES_MIN = 5;
const NOT_A_QUERY = (FLAG.QR | OPCODE_MASK) >> 8;

export function createQuickAnswers({ cache, counters, cookies, clock }: QuickAnswersDeps): QuickAnswer {
  return (datagram) => {
    const { input, start, length, output, outStart } = datagram;
    if (length < HEADER_BYTES + QUESTION_BYTES_MIN || ((input[start + 2] as number) & NOT_A_QUERY) !== 0) return 0;
    // One question, no answers, no authorities.
    if (u16(input, start + 4) !== 1 || u16(input, start + 6) !== 0 || u16(input, start + 8) !== 0) return 0;
    const end = start + length;
    const nameStart = start + HEADER_BYTES;
    const nameEnd = skipName(input, nameStart, end);
    if (nameEnd === 0 || nameEnd + 4 > end) return 0;

    let ednsClass: 0 | 1 | 2 = 0;
    let bytesMax = PAYLOAD_BYTES_MIN;
    let cookieAt = 0;
    const extra = nameEnd + 4;
    const additionals = u16(input, start + 10);
    if (additionals === 1) {
      cookieAt = plainOpt(input, extra, end);
      if (cookieAt === UNUSUAL) return 0;
      bytesMax = boundPayload(u16(input, extra + 3));
      ednsClass = ((input[extra + 7] as number) & 0x80) === 0 ? 1 : 2;
    } else if (additionals !== 0 || extra !== end) return 0;

    const cached = cache.get(cacheKey(input, nameStart, nameEnd, u16(input, nameEnd), u16(input, nameEnd + 2), ednsClass));
    const optionBytes = cookieAt === 0 ? 0 : COOKIE_OPTION_BYTES;
    if (cached === undefined || cached.bytes.length + optionBytes > bytesMax) return 0;
    const answerBytes = cached.bytes.length;
    fillIn(cached, input, start, nameEnd, output, outStart);
    if (optionBytes > 0) {
      const { addresses, addressStart, addressBytes } = datagram;
      const from = cookieAt + OPTION_HEAD_BYTES;
      const cookieBytes = u16(input, cookieAt + 2);
      writeCookieOption(
        cookies,
        input,
        from,
        cookieBytes,
        addresses,
        addressStart,
        addressBytes,
        clock.nowMs(),
        output,
        outStart + answerBytes,
      );
      addToOptions(output, outStart + cached.optStart, optionBytes);
    }
    counters.queries.udp.value += 1;
    counters.cacheHits.value += 1;
    counters.responses(cached.rcode, ((output[outStart + 2] as number) & (FLAG.TC >> 8)) !== 0);
    return answerBytes + optionBytes;
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

const UNUSUAL = -1;

/**
 * Where the first COOKIE option of an OPT record of version 0 starts, 0 where it has none. UNUSUAL where something
 * else stands between `at` and `end`, or an option that is rarely asked for.
 */
function plainOpt(packet: Uint8Array, at: number, end: number): number {
  if (at + OPT_BYTES > end || packet[at] !== 0 || u16(packet, at + 1) !== TYPE.OPT || packet[at + 6] !== 0) return UNUSUAL;
  let option = at + OPT_BYTES;
  if (option + u16(packet, at + 9) !== end) return UNUSUAL;
  let cookieAt = 0;
  while (option + OPTION_HEAD_BYTES <= end) {
    const code = u16(packet, option);
    const length = u16(packet, option + 2);
    if (code === OPTION.NSID) return UNUSUAL;
    if (code === OPTION.COOKIE && cookieAt === 0) {
      if (!isCookieLength(length)) return UNUSUAL;
      cookieAt = option;
    }
    option += OPTION_HEAD_BYTES + length;
  }
  return option === end ? cookieAt : UNUSUAL;
}
