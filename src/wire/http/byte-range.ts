/** The bytes `[start, end)` of a representation. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** 15 digits are below 2^53. */
const ONE_RANGE = /^bytes=[ \t]*(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))[ \t]*$/i;

/**
 * The range that a Range field requests of a representation of this size (RFC 9110 §14.2). Null if the field must be
 * ignored, because it is malformed, has another unit or several ranges; a server may always respond with the whole.
 */
export function readByteRange(field: string, size: number): ByteRange | "unsatisfiable" | null {
  const match = ONE_RANGE.exec(field);
  if (match === null) return null;
  const [, first, last, suffix] = match;
  if (first === undefined) {
    const length = Math.min(Number(suffix), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === undefined || last === "" ? size : Number(last) + 1;
  if (end <= start && last !== "") return null;
  return start >= size ? "unsatisfiable" : { start, end: Math.min(end, size) };
}
