import { createHmac, timingSafeEqual } from "node:crypto";
import { charge } from "#rules/budget.ts";
import { decodePercent } from "#rules/text/url-functions.ts";

export interface TimedHmac {
  readonly key: string;
  readonly ttlSeconds: number;
  readonly separatorBytes: number;
  /** Whether the code is Base64 for URLs without padding; otherwise it is URL-encoded Base64. */
  readonly urlSafe: boolean;
}

const MAC_CHARACTERS_MIN = 43;
const TIMESTAMP_DIGITS = 10;

// Steps per byte that may be a hyphen before a code, and steps of a code with any message.
const BYTE_STEPS = 60;
const CODE_STEPS = 20_000;

/** Whether `message separator timestamp-mac` has a valid code (HMAC-SHA256 of message and timestamp) that has not expired. */
export function isTimedHmacValid(token: TimedHmac, text: string, nowSeconds: number): boolean {
  charge(text.length * BYTE_STEPS);
  const hyphen = hyphenOf(text);
  if (hyphen < 0) return false;
  const digits = text.slice(hyphen - TIMESTAMP_DIGITS, hyphen);
  const before = text.slice(0, hyphen - TIMESTAMP_DIGITS);
  const message = before.slice(0, Math.max(0, before.length - token.separatorBytes));
  if (message === "" || nowSeconds > Number(digits) + token.ttlSeconds) return false;
  charge(CODE_STEPS);
  const mac = text.slice(hyphen + 1);
  const given = Buffer.from(token.urlSafe ? mac : decodePercent(mac), token.urlSafe ? "base64url" : "base64");
  const made = createHmac("sha256", Buffer.from(token.key, "latin1")).update(message, "latin1").update(digits).digest();
  return given.length === made.length && timingSafeEqual(given, made);
}

/** The last hyphen with a timestamp before it and enough characters for a code after it. */
function hyphenOf(text: string): number {
  let at = text.lastIndexOf("-", text.length - MAC_CHARACTERS_MIN - 1);
  while (at > TIMESTAMP_DIGITS) {
    if (/^\d{10}$/.test(text.slice(at - TIMESTAMP_DIGITS, at))) return at;
    at = text.lastIndexOf("-", at - 1);
  }
  return -1;
}
