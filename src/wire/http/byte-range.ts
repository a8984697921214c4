/** The bytes `[start, end)` of a representation. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** 15 digits stay below 2^53. */
const ONE_RANGE = /^bytes=[ \t]*(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))[ \t]*$/i;

/**
 * What a Range field asks of a representation of this size (RFC 9110 §14.2): null where it is to be ignored, because it is
 * malformed, of another unit or names several ranges; a server may answer any Range with the whole.
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
