import { EDNS_FLAG, FLAG, HEADER_BYTES, OPCODE_MASK, OPTION, RCODE, TYPE } from "#wire/dns/codes.ts";
import { OPT_BYTES } from "#wire/dns/message.ts";
import { LABEL_BYTES_MAX, NAME_BYTES_MAX } from "#wire/dns/name.ts";
import { type AnswerCache, fillIn } from "./answer-cache.ts";
import { u16 } from "./answer-keys.ts";
import { addToOptions, COOKIE_OPTION_BYTES, OPTION_HEAD_BYTES, writeCookieOption } from "#nameserver/message/client-options.ts";
import { type Cookies, isCookieLength } from "#nameserver/message/cookies.ts";
import type { Counters } from "#nameserver/message/counters.ts";
import type { Datagram } from "#nameserver/message/datagram.ts";
import { boundPayload, type EdnsClass, PAYLOAD_BYTES_MIN } from "#nameserver/message/exchange.ts";
import { DROP, type RateLimit, SEND } from "#nameserver/limits/rate-limit.ts";
import { truncatedBytes, writeTruncated } from "#nameserver/message/truncated.ts";

/**
 * Writes the cached response to the datagram's output and returns its length. Returns 0 if the message is unusual or not
 * cached: `Respond` then handles it. Returns DROPPED if rate limiting drops the response. The bytes equal those of
 * `Respond`; the function allocates nothing.
 */
export type FastPath = (datagram: Datagram) => number;

export interface QuickAnswersDeps {
  readonly cache: AnswerCache;
  readonly counters: Counters;
  readonly cookies: Cookies;
  readonly rateLimit: RateLimit | undefined;
}

/** Rate limiting drops the response. */
export const DROPPED = -1;

/** Root name, type and class. */
const QUESTION_BYTES_MIN = 5;
const NOT_A_QUERY = (FLAG.QR | OPCODE_MASK) >> 8;

export function createQuickAnswers({ cache, counters, cookies, rateLimit }: QuickAnswersDeps): FastPath {
  /** State that the steps of one call share; numbers only, so that writing them does not allocate. */
  const asked: Asked = { nameEnd: 0, ednsClass: 0, bytesMax: 0, cookieAt: 0 };

  return (datagram) => {
    if (!readUsual(datagram, asked)) return 0;
    const { input, start, addresses, addressStart, addressBytes, output, outStart } = datagram;
    const { nameEnd, cookieAt, ednsClass } = asked;
    const cached = cache.find(input, start + HEADER_BYTES, nameEnd, ednsClass);
    const optionBytes = cookieAt === 0 ? 0 : COOKIE_OPTION_BYTES;
    if (cached === undefined || cached.bytes.length + optionBytes > asked.bytesMax) return 0;
    counters.queries.udp.value += 1;
    counters.cacheHits.value += 1;
    const nowMs = datagram.receivedMs;
    const optionAt = outStart + cached.bytes.length;
    let isKnown = false;
    if (optionBytes > 0) {
      const from = cookieAt + OPTION_HEAD_BYTES;
      const cookieBytes = u16(input, cookieAt + 2);
      isKnown = writeCookieOption(cookies, input, from, cookieBytes, addresses, addressStart, addressBytes, nowMs, output, optionAt);
    }
    const bytesFull = cached.bytes.length + optionBytes;
    const verdict = isKnown || !rateLimit ? SEND : rateLimit.verdict(addresses, addressStart, addressBytes, cached.sort, bytesFull, nowMs);
    if (verdict === SEND) {
      fillIn(cached, input, start, nameEnd, output, outStart);
      if (optionBytes > 0) addToOptions(output, outStart + cached.optStart, optionBytes);
      counters.responses(cached.rcode, ((output[outStart + 2] as number) & (FLAG.TC >> 8)) !== 0);
      return bytesFull;
    }
    counters.limited[verdict].value += 1;
    if (verdict === DROP) return DROPPED;
    // Never longer than the response, so that the option after it stays complete.
    const bytes = writeTruncated(input, start, nameEnd, ednsClass, output, outStart);
    if (optionBytes > 0) {
      output.copyWithin(outStart + bytes, optionAt, optionAt + optionBytes);
      addToOptions(output, outStart + truncatedBytes(start, nameEnd), optionBytes);
    }
    counters.responses(RCODE.NOERROR, false);
    return bytes + optionBytes;
  };
}

interface Asked {
  nameEnd: number;
  ednsClass: EdnsClass;
  bytesMax: number;
  /** 0 without a cookie. */
  cookieAt: number;
}

/** Whether the message is a plain query, as nearly all are; fills `asked`. */
function readUsual({ input, start, length }: Datagram, asked: Asked): boolean {
  if (length < HEADER_BYTES + QUESTION_BYTES_MIN || ((input[start + 2] as number) & NOT_A_QUERY) !== 0) return false;
  // One question, no answers, no authorities.
  if (u16(input, start + 4) !== 1 || u16(input, start + 6) !== 0 || u16(input, start + 8) !== 0) return false;
  const end = start + length;
  const nameEnd = skipName(input, start + HEADER_BYTES, end);
  const extra = nameEnd + 4;
  if (nameEnd === 0 || extra > end) return false;
  asked.nameEnd = nameEnd;
  asked.ednsClass = 0;
  asked.bytesMax = PAYLOAD_BYTES_MIN;
  asked.cookieAt = 0;
  const additionals = u16(input, start + 10);
  if (additionals === 0) return extra === end;
  const cookieAt = additionals === 1 ? plainOpt(input, extra, end) : UNUSUAL;
  if (cookieAt === UNUSUAL) return false;
  const flags = u16(input, extra + 7);
  asked.ednsClass = (flags & EDNS_FLAG.DO) === 0 ? 1 : (flags & EDNS_FLAG.CO) === 0 ? 2 : 3;
  asked.bytesMax = boundPayload(u16(input, extra + 3));
  asked.cookieAt = cookieAt;
  return true;
}

/** Offset after the uncompressed name; 0 if the name is invalid. */
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
 * Offset of the first COOKIE option of an OPT record of version 0; 0 without one. UNUSUAL for other records between `at`
 * and `end`, or for a rare option.
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
