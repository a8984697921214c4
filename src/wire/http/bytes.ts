/** Bytes with a meaning in HTTP/1.1. */
export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const COMMA = 0x2c;
export const SLASH = 0x2f;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;

function byteClass(member: (byte: number) => boolean): Uint8Array {
  const table = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) if (member(byte)) table[byte] = 1;
  return table;
}

const TOKEN_PUNCTUATION = "!#$%&'*+-.^_`|~";

/** Method and field name characters (RFC 9110 §5.6.2, tchar). */
export const TOKEN = byteClass(
  (byte) => /[0-9A-Za-z]/.test(String.fromCharCode(byte)) || TOKEN_PUNCTUATION.includes(String.fromCharCode(byte)),
);

/** Characters of field values, including white space between them (RFC 9110 §5.5): no control characters except the tab. */
export const FIELD_VALUE = byteClass((byte) => byte === TAB || (byte >= SPACE && byte !== 0x7f));

/** Visible ASCII except the number sign, because request targets have no fragment (RFC 9112 §3.2). Other bytes are escaped where targets are read. */
export const TARGET = byteClass((byte) => byte > SPACE && byte < 0x7f && byte !== 0x23);

/** The value of a hexadecimal digit, or -1. */
export const HEX_VALUE = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = "0123456789abcdef".indexOf(String.fromCharCode(byte).toLowerCase());
  return byte < 0x80 ? digit : -1;
});

/**
 * Whether the bytes at `offset` spell `lower`, which consists of lower-case letters, digits and hyphens. The bytes must
 * not be control characters, because setting bit 5 would also change those.
 */
export function spells(buffer: Buffer, offset: number, lower: string): boolean {
  for (let i = 0; i < lower.length; i++) if ((buffer[offset + i]! | 0x20) !== lower.charCodeAt(i)) return false;
  return true;
}

/** A part of the buffer as a string with one character per byte. */
export const latin1 = (buffer: Buffer, start: number, end: number): string => (buffer as Latin1).latin1Slice(start, end);

/** The method that `toString("latin1")` calls after checking its arguments. */
type Latin1 = Buffer & { latin1Slice(start: number, end: number): string };
