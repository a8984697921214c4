import { randomBytes, randomInt } from "node:crypto";

// One system call fills the pool for many identifiers.
const POOL_BYTES = 8192;
/** The byte whose first bit is set in a UUID (RFC 9562 §4.1). */
const UUID_VARIANT = 8;
let pool = randomBytes(POOL_BYTES);
let used = 0;

/** Offset of `bytes` unused bytes in the pool. */
function take(bytes: number): number {
  if (used + bytes > POOL_BYTES) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  used += bytes;
  return used - bytes;
}

/** A resource identifier: 32 lower-case hexadecimal characters (SPEC 4.5), never those of a UUID. */
export function newId(): string {
  const start = take(16);
  // Identifiers of the vendor's rules are UUIDs without hyphens, and only those are kept although they name nothing here.
  pool.writeUInt8(pool.readUInt8(start + UUID_VARIANT) & 0x7f, start + UUID_VARIANT);
  return pool.toString("hex", start, start + 16);
}

export const isId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Two characters for each value of ten bits, so that half as many strings must be joined. */
const CROCKFORD_PAIRS = Array.from({ length: 1024 }, (_, bits) => CROCKFORD.charAt(bits >> 5) + CROCKFORD.charAt(bits & 31));
/** The first half is the same for all ULIDs of a millisecond. */
let ulidMs = -1;
let ulidTime = "";

/** The time of a ULID in Unix milliseconds; undefined if the text is not a ULID. */
export function ulidTimeMs(id: string): number | undefined {
  if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id)) return undefined;
  let ms = 0;
  for (const character of id.slice(0, 10)) ms = ms * 32 + CROCKFORD.indexOf(character);
  return ms;
}

/** A ULID: 48 bits of milliseconds and 80 random bits, so log rows sort by time. */
export function newUlid(nowMs: number): string {
  if (nowMs !== ulidMs) {
    ulidMs = nowMs;
    ulidTime = "";
    for (let rest = nowMs, i = 0; i < 5; i++) {
      ulidTime = CROCKFORD_PAIRS[rest % 1024]! + ulidTime;
      rest = Math.floor(rest / 1024);
    }
  }
  const start = take(16);
  let text = ulidTime;
  for (let i = start; i < start + 16; i += 2) text += CROCKFORD_PAIRS[((pool[i]! & 31) << 5) | (pool[i + 1]! & 31)]!;
  return text;
}

export const ULID_LENGTH = 26;
const CROCKFORD_CODES = Buffer.from(CROCKFORD);

/** One ULID per time, as one string: separate strings would be most of the work. */
export function newUlids(times: Float64Array): string {
  const random = randomBytes(16 * times.length);
  const text = Buffer.allocUnsafe(ULID_LENGTH * times.length);
  for (let row = 0, at = 0, from = 0; row < times.length; row++) {
    // Two halves of 25 bits, because bit operators work on 32 bits.
    let [high, low] = [Math.floor(times[row]! / 2 ** 25), times[row]! % 2 ** 25];
    for (let i = 4; i >= 0; i--, high >>= 5, low >>= 5) {
      text[at + i] = CROCKFORD_CODES[high & 31]!;
      text[at + i + 5] = CROCKFORD_CODES[low & 31]!;
    }
    for (let i = 10; i < ULID_LENGTH; i++) text[at + i] = CROCKFORD_CODES[random[from++]! & 31]!;
    at += ULID_LENGTH;
  }
  return text.toString("latin1");
}

/** Strings are joined from these: converting a 32-bit number to hexadecimal is slower. */
const HEX_TRIPLES = Array.from({ length: 0x1000 }, (_, bits) => bits.toString(16).padStart(3, "0"));
const HEX_PAIRS = HEX_TRIPLES.slice(0, 0x100).map((digits) => digits.slice(1));

// 41 bits of milliseconds since 2020 last until 2089; 23 bits count within a millisecond.
const RAY_EPOCH_MS = Date.UTC(2020);
const RAY_COUNT = 0x80_0000;
let rays = randomInt(RAY_COUNT);
/** The first half is the same for half a second. */
let lastHigh = -1;
let highText = "";

/**
 * A request identifier as in the edge's `ray` header: 16 hexadecimal characters. It starts with the time, so that rows
 * are found through the index over time and requests need no separate index. Each thread counts up from a random number.
 */
export function newRayId(nowMs: number): string {
  rays = (rays + 1) % RAY_COUNT;
  const time = nowMs - RAY_EPOCH_MS;
  // Two halves of 32 bits: the upper bits of the time, then its lowest 9 bits and the counter.
  const high = Math.floor(time / 2 ** 9);
  if (high !== lastHigh) {
    lastHigh = high;
    highText = high.toString(16).padStart(8, "0");
  }
  const low = (time - high * 2 ** 9) * RAY_COUNT + rays;
  return highText + (HEX_TRIPLES[low >>> 20]! + HEX_TRIPLES[(low >>> 8) & 0xfff]! + HEX_PAIRS[low & 0xff]!);
}

/** Start time of a ray in Unix milliseconds; undefined if the text is not a ray. */
export function rayTimeMs(ray: string): number | undefined {
  if (!/^[0-9a-f]{16}$/.test(ray)) return undefined;
  const time = Number.parseInt(ray.slice(0, 8), 16) * 2 ** 9 + Math.floor(Number.parseInt(ray.slice(8), 16) / RAY_COUNT);
  return RAY_EPOCH_MS + time;
}

const TOKEN_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A secret of 40 characters (238 bits), which passes the format checks of clients for API tokens. */
export function newTokenSecret(): string {
  let secret = "";
  for (let i = 0; i < 40; i++) secret += TOKEN_ALPHABET[randomInt(TOKEN_ALPHABET.length)];
  return secret;
}
