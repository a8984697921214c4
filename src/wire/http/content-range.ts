/** Which of a representation's bytes a message or a part of one holds. */
export interface ContentRange {
  readonly first: number;
  /** Of the last byte, itself among them. */
  readonly last: number;
  /** Of the whole; null where the sender did not know it. */
  readonly length: number | null;
}

const BYTES = /^bytes +(\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i;

/** RFC 9110 §14.4; null where it says no range of bytes, or one that cannot be. */
export function parseContentRange(value: string): ContentRange | null {
  const [, from, to, whole] = BYTES.exec(value.trim()) ?? [];
  if (from === undefined || to === undefined || whole === undefined) return null;
  const [first, last, length] = [Number(from), Number(to), whole === "*" ? null : Number(whole)];
  return last < first || (length !== null && last >= length) ? null : { first, last, length };
}
