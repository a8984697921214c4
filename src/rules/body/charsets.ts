import { charge } from "#rules/budget.ts";
import { rememberLast } from "#rules/text/memo.ts";

const DECODE_STEPS = 1000;
const BYTE_STEPS = 30;

/** Converts a text of one char per byte to UTF-8, again with one char per byte. */
type Decode = (bytes: string) => readonly string[];

/**
 * Character sets that contain ASCII, and in which no ASCII byte is part of another character: however programs decode the
 * rest, they see the ASCII that rules see (WHATWG Encoding, single-byte encodings, and UTF-8).
 */
const PLAIN = /^(?:utf-?8|unicode-1-1-utf-8|us-ascii|ascii|latin-?1|l1|iso-?8859-?\d{1,2}|(?:windows|cp)-?125\d|koi8-[ru]|macintosh)$/;

/** Whether the character set contains ASCII; true for an empty name. Takes lower case. */
export const isPlainCharset = (charset: string): boolean => charset === "" || PLAIN.test(charset);

/** The bytes decoded from a character set, in UTF-8; empty if it is unknown. UTF-16 is read in both byte orders. */
export function decodeCharset(charset: string, bytes: string): readonly string[] {
  charge(DECODE_STEPS + bytes.length * BYTE_STEPS);
  const own = DECODERS.find(([pattern]) => pattern.test(charset));
  if (own !== undefined) return own[1](bytes);
  const decoder = decoderOf(charset);
  return decoder === null ? [] : [utf8Bytes(decoder.decode(Buffer.from(bytes, "latin1")))];
}

/** Remembers the last decoder, because all values of a body use the same one. */
const decoderOf = rememberLast((charset: string): InstanceType<typeof TextDecoder> | null => {
  try {
    return new TextDecoder(charset);
  } catch {
    return null;
  }
});

const utf8Bytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

function decodeUtf16(bytes: string, order: "little" | "big"): string {
  const even = Buffer.from(bytes.length % 2 === 0 ? bytes : `${bytes}\0`, "latin1");
  return utf8Bytes((order === "little" ? even : even.swap16()).toString("utf16le"));
}

const DECODERS: readonly (readonly [pattern: RegExp, decode: Decode])[] = [
  [/^(?:utf-?16|ucs-?2|unicode|csunicode|iso-10646-ucs-2)/, (bytes) => [decodeUtf16(bytes, "little"), decodeUtf16(bytes, "big")]],
  [/^(?:utf-?32|ucs-?4)be$/, (bytes) => [decodeUtf32(bytes, 3)]],
  [/^(?:utf-?32|ucs-?4)/, (bytes) => [decodeUtf32(bytes, 0), decodeUtf32(bytes, 3)]],
  [/^(?:utf-?7|unicode-1-1-utf-7|csutf7)/, (bytes) => [decodeUtf7(bytes)]],
  // EBCDIC code pages with letters and digits at the same places.
  [
    /^(?:x-|cs)?(?:ebcdic|(?:ibm|cp)[-_]?(?:0?37|27[378]|28[045]|297|42[04]|500|871|875|1026|1047|114\d)$)/,
    (bytes) => [decodeEbcdic(bytes)],
  ],
];

/** `lowAt`: index of the lowest of four bytes. */
function decodeUtf32(bytes: string, lowAt: 0 | 3): string {
  let text = "";
  for (let at = 0; at + 3 < bytes.length; at += 4) {
    const [a, b, c] = [0, 1, 2].map((place) => bytes.charCodeAt(at + (lowAt === 0 ? place : 3 - place))) as [number, number, number];
    const point = a | (b << 8) | (c << 16);
    text += String.fromCodePoint(point > 0x10_ffff ? 0xfffd : point);
  }
  return utf8Bytes(text);
}

/** RFC 2152. */
const decodeUtf7 = (bytes: string): string =>
  // linear: pumped
  bytes.replace(/\+([A-Za-z0-9+/]*)-?/g, (_whole, base64: string) =>
    base64 === "" ? "+" : decodeUtf16(Buffer.from(base64, "base64").toString("latin1"), "big"),
  );

/** IBM code page 37 from 0x40 on; below are controls, of which these matter. */
const EBCDIC_037 =
  " \u00a0âäàáãåçñ¢.<(+|&éêëèíîïìß!$*);¬-/ÂÄÀÁÃÅÇÑ¦,%_>?øÉÊËÈÍÎÏÌ`:#@'=\"Øabcdefghi«»ðýþ±°jklmnopqrªºæ¸Æ¤µ~stuvwxyz¡¿ÐÝÞ®^£¥·©§¶¼½¾[]" +
  "¯¨´×{ABCDEFGHI\u00adôöòóõ}JKLMNOPQR¹ûüùúÿ\\÷STUVWXYZ²ÔÖÒÓÕ0123456789³ÛÜÙÚ ";
const EBCDIC_CONTROLS: Readonly<Record<number, string>> = { 0x05: "\t", 0x0d: "\r", 0x15: "\n", 0x25: "\n" };

const EBCDIC: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte < 0x40 ? (EBCDIC_CONTROLS[byte] ?? " ") : EBCDIC_037.charAt(byte - 0x40),
);

function decodeEbcdic(bytes: string): string {
  let text = "";
  for (let at = 0; at < bytes.length; at++) text += EBCDIC[bytes.charCodeAt(at)] ?? "";
  return utf8Bytes(text);
}
