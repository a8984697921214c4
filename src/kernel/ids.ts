import { randomBytes, randomInt } from "node:crypto";

// One system call fills the pool for many identifiers.
const POOL_BYTES = 8192;
let pool = randomBytes(POOL_BYTES);
let used = 0;

function take(bytes: number): Buffer {
  if (used + bytes > POOL_BYTES) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}

/** A resource identifier: 32 lower-case hexadecimal characters (SPEC 4.5). */
export const newId = (): string => take(16).toString("hex");

export const isId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A ULID: 48 bits of milliseconds and 80 random bits, so log rows sort by time. */
export function newUlid(nowMs: number): string {
  let time = "";
  for (let rest = nowMs, i = 0; i < 10; i++) {
    time = CROCKFORD[rest % 32] + time;
    rest = Math.floor(rest / 32);
  }
  let random = "";
  for (const byte of take(16)) random += CROCKFORD[byte & 31];
  return time + random;
}

/** A request identifier as the edge's `ray` header carries it: 16 hexadecimal characters. */
export const newRayId = (): string => take(8).toString("hex");

const TOKEN_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A secret of 40 characters: 238 bits, which clients' own format checks accept as an API token. */
export function newTokenSecret(): string {
  let secret = "";
  for (let i = 0; i < 40; i++) secret += TOKEN_ALPHABET[randomInt(TOKEN_ALPHABET.length)];
  return secret;
}
