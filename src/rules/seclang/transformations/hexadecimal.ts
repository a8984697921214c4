/** The value of a hexadecimal digit at a position of a text, or -1. */
export function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 0x20;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** The byte of two digits at a position, or -1. */
export function byteAt(text: string, at: number): number {
  const high = digitAt(text, at);
  const low = high === -1 ? -1 : digitAt(text, at + 1);
  return low === -1 ? -1 : high * 16 + low;
}

/**
 * The byte of four hexadecimal digits, or -1: the lower byte of the code unit; full-width forms become the ASCII
 * characters that they look like (ModSecurity's range from U+FF01 to U+FF5E).
 */
export function unitAt(text: string, at: number): number {
  const high = byteAt(text, at);
  const low = high === -1 ? -1 : byteAt(text, at + 2);
  if (low === -1) return -1;
  return high === 0xff && low > 0x00 && low < 0x5f ? (low + 0x20) & 0xff : low;
}

/** Octal digits at a position, at most `most` of them, whose value fits into a byte; empty if it has none. */
export function octalAt(text: string, at: number, most: number): string {
  let end = at;
  while (end < at + most && text[end]! >= "0" && text[end]! <= "7") end++;
  const digits = text.slice(at, end);
  return digits.length === 3 && digits[0]! > "3" ? digits.slice(0, 2) : digits;
}
