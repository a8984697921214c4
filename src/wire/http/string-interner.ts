import { latin1 } from "./bytes.ts";

/** Powers of two. */
const PLACES = 64;
const BYTES_MAX = 64;

/**
 * Reads parts of buffers like `latin1`, but returns the same string for frequent texts such as hosts, which saves
 * allocations and hashing. Senders choose the texts, so a new text replaces the one in its place.
 */
export function createStringInterner(): (buffer: Buffer, start: number, end: number) => string {
  const texts: string[] = Array.from({ length: PLACES }, () => "");
  const bytes = new Uint8Array(PLACES * BYTES_MAX);
  return (buffer, start, end) => {
    const length = end - start;
    if (length === 0 || length > BYTES_MAX) return latin1(buffer, start, end);
    const mixed = length + buffer[start]! * 7 + buffer[start + (length >> 1)]! * 31 + buffer[end - 1]! * 17;
    const place = mixed & (PLACES - 1);
    const at = place * BYTES_MAX;
    const known = texts[place]!;
    if (known.length === length) {
      let same = 0;
      while (same < length && bytes[at + same] === buffer[start + same]) same++;
      if (same === length) return known;
    }
    for (let i = 0; i < length; i++) bytes[at + i] = buffer[start + i]!;
    return (texts[place] = latin1(buffer, start, end));
  };
}
