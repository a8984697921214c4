/** The bytes of a representation that a message or a part contains. */
export interface ContentRange {
  readonly first: number;
  /** Offset of the last byte, inclusive. */
  readonly last: number;
  /** Total length; null if the sender did not know it. */
  readonly length: number | null;
}

const BYTES = /^bytes +(\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i;

/** RFC 9110 §14.4; null if the value is not a possible range of bytes. */
export function parseContentRange(value: string): ContentRange | null {
  const [, from, to, whole] = BYTES.exec(value.trim()) ?? [];
  if (from === undefined || to === undefined || whole === undefined) return null;
  const [first, last, length] = [Number(from), Number(to), whole === "*" ? null : Number(whole)];
  return last < first || (length !== null && last >= length) ? null : { first, last, length };
}
