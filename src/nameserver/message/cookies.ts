import { createSipHash } from "#kernel/crypto/siphash.ts";

/** Length of a client cookie, which a client without a server cookie sends alone (RFC 7873 §4). */
export const CLIENT_COOKIE_BYTES = 8;
/** Version, three reserved bytes, a timestamp and a hash (RFC 9018 §4). */
const SERVER_COOKIE_BYTES = 16;
/** A client cookie followed by the server cookie, as the server sends it. */
export const COOKIE_BYTES = CLIENT_COOKIE_BYTES + SERVER_COOKIE_BYTES;
const SERVER_COOKIE_BYTES_MIN = 8;
const SERVER_COOKIE_BYTES_MAX = 32;

/** Other lengths make a message malformed (RFC 7873 §5.2.2). */
export const isCookieLength = (bytes: number): boolean =>
  bytes === CLIENT_COOKIE_BYTES ||
  (bytes >= CLIENT_COOKIE_BYTES + SERVER_COOKIE_BYTES_MIN && bytes <= CLIENT_COOKIE_BYTES + SERVER_COOKIE_BYTES_MAX);

/** Largest age of a server cookie, largest lead over our clock, and the age from which it is renewed (RFC 9018 §4.3). */
const AGE_SECONDS_MAX = 3600;
const AHEAD_SECONDS_MAX = 300;
const RENEWAL_AGE_SECONDS = 1800;

const VERSION = 1;
const VERSION_AT = CLIENT_COOKIE_BYTES;
const TIME_AT = VERSION_AT + 4;
const HASH_AT = TIME_AT + 4;
const HASH_BYTES = COOKIE_BYTES - HASH_AT;

/** Server cookies; all servers with the same secret accept each other's (RFC 9018). */
export interface Cookies {
  /**
   * Answers the cookie of valid length at `start` of `from`, whose client address of 4 or 16 bytes is at `addressStart`
   * of `addresses`. Writes the 24 bytes of both cookies to `out` at `outStart`. Returns whether the server cookie was
   * valid, which proves the client's address. Does not allocate.
   */
  answer(
    from: Uint8Array,
    start: number,
    length: number,
    addresses: Uint8Array,
    addressStart: number,
    addressBytes: number,
    nowSeconds: number,
    out: Uint8Array,
    outStart: number,
  ): boolean;
}

/** Throws RangeError if the secret does not have 16 bytes. */
export function createCookies(secret: Uint8Array): Cookies {
  const hash = createSipHash(secret);
  /** Client cookie, version, reserved, timestamp, address: the input of the hash (RFC 9018 §4.4). */
  const input = new Uint8Array(HASH_AT + 16);
  const expected = new Uint8Array(HASH_BYTES);

  return {
    answer: (from, start, length, addresses, addressStart, addressBytes, nowSeconds, out, outStart) => {
      for (let i = 0; i < addressBytes; i++) input[HASH_AT + i] = addresses[addressStart + i] as number;
      const end = HASH_AT + addressBytes;
      let known = false;
      if (length === COOKIE_BYTES && from[start + VERSION_AT] === VERSION) {
        for (let i = 0; i < HASH_AT; i++) input[i] = from[start + i] as number;
        const age = (nowSeconds - timeAt(from, start + TIME_AT)) | 0;
        if (age <= AGE_SECONDS_MAX && age >= -AHEAD_SECONDS_MAX) {
          hash(input, 0, end, expected, 0);
          known = equals(from, start + HASH_AT, expected);
        }
        if (known && age <= RENEWAL_AGE_SECONDS) {
          for (let i = 0; i < COOKIE_BYTES; i++) out[outStart + i] = from[start + i] as number;
          return true;
        }
      }
      for (let i = 0; i < CLIENT_COOKIE_BYTES; i++) input[i] = from[start + i] as number;
      input[VERSION_AT] = VERSION;
      input.fill(0, VERSION_AT + 1, TIME_AT);
      for (let i = 0; i < 4; i++) input[TIME_AT + i] = nowSeconds >>> (24 - 8 * i);
      for (let i = 0; i < HASH_AT; i++) out[outStart + i] = input[i] as number;
      hash(input, 0, end, out, outStart + HASH_AT);
      return known;
    },
  };
}

/** Seconds as a 32-bit number; differences in serial number arithmetic stay correct beyond 2106 (RFC 9018 §4.3). */
const timeAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);

/** Constant time, so that a hash cannot be guessed byte by byte. */
function equals(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  let difference = 0;
  for (let i = 0; i < HASH_BYTES; i++) difference |= (bytes[at + i] as number) ^ (expected[i] as number);
  return difference === 0;
}
