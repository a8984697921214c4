/** One entity tag in the syntax of RFC 9110 §8.8.3. */
const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
// linear: pumped
const TAGS = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;
const TAGS_MAX = 100;

export const isEntityTag = (text: string): boolean => TAG.test(text);

/** Whether an If-None-Match field lists the tag, or is `*` (RFC 9110 §13.1.2: weak comparison). */
export function namesTag(field: string, tag: string | null): boolean {
  if (field.trim() === "*") return true;
  if (tag === null) return false;
  const wanted = opaque(tag);
  let count = 0;
  for (const [candidate] of field.matchAll(TAGS)) {
    if (opaque(candidate) === wanted) return true;
    if (++count === TAGS_MAX) return false;
  }
  return false;
}

/** RFC 9110 §8.8.3.2: both are strong and equal. */
export const isSameStrongTag = (one: string, other: string): boolean => one === other && isEntityTag(one) && !one.startsWith("W/");

const opaque = (tag: string): string => (tag.startsWith("W/") ? tag.slice(2) : tag);
