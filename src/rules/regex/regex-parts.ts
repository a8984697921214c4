import { type ByteSet, oneByte } from "./byte-set.ts";
import type { Regex } from "./regex-syntax.ts";

/** Every match contains one of `texts`; with `folded`, in lower case. */
export interface RequiredParts {
  readonly texts: readonly string[];
  readonly folded: boolean;
}

const ALTERNATIVES_MAX = 64;

/**
 * Texts that every match contains, one per alternative, in the given case unless the lower-case texts are longer; null if
 * none is certain.
 */
export function requiredParts(regex: Regex): RequiredParts | null {
  const exact = partsOf(regex, false);
  const lower = partsOf(regex, true);
  if (exact !== null && (lower === null || shortest(exact) >= shortest(lower))) return { texts: exact, folded: false };
  return lower === null ? null : { texts: lower, folded: true };
}

const shortest = (texts: readonly string[]): number => Math.min(...texts.map((text) => text.length));

// Shorter pieces are in most texts.
const PART_BYTES_MIN = 3;

function partsOf(regex: Regex, folded: boolean): readonly string[] | null {
  if (regex.kind === "capture") return partsOf(regex.item, folded);
  if (regex.kind === "choice") {
    const all = regex.items.map((item) => partsOf(item, folded));
    const known = all.filter((texts) => texts !== null).flat();
    return all.includes(null) || known.length > ALTERNATIVES_MAX ? null : known;
  }
  if (regex.kind === "repeat") return regex.min > 0 ? partsOf(regex.item, folded) : null;
  if (regex.kind !== "sequence") return null;
  const piece = longestPiece(regex.items, folded);
  if (piece.length >= PART_BYTES_MIN) return [piece];
  for (const item of regex.items) {
    const inside = partsOf(item, folded);
    if (inside !== null) return inside;
  }
  return null;
}

/** The longest contiguous text of the sequence. */
function longestPiece(items: readonly Regex[], folded: boolean): string {
  let longest = "";
  let current = "";
  for (const item of items) {
    const byte = item.kind === "set" ? (folded ? FOLDED : SINGLES).get(item.bytes) : undefined;
    current = byte === undefined ? "" : current + byte;
    if (current.length > longest.length) longest = current;
  }
  return longest;
}

const SINGLES: ReadonlyMap<ByteSet, string> = new Map(Array.from({ length: 256 }, (_, byte) => [oneByte(byte), String.fromCharCode(byte)]));

/** Letters in both cases, and bytes that have none. */
const FOLDED: ReadonlyMap<ByteSet, string> = new Map(
  Array.from({ length: 256 }, (_, byte): readonly [ByteSet, string] => {
    const char = String.fromCharCode(byte);
    const lower = /[A-Z]/.test(char) ? char.toLowerCase() : char;
    return /[A-Za-z]/.test(char) ? [oneByte(lower.charCodeAt(0)) | oneByte(lower.charCodeAt(0) - 32), lower] : [oneByte(byte), char];
  }),
);
