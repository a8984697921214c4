import { listAt } from "#kernel/lists.ts";
import type { DetectorGroup } from "./detector-group.ts";
import { chooseGrams, GRAM_BYTES } from "#rules/detectors/prefilter/gram-groups.ts";
import { GRAM_GROUPS, type Gram } from "#rules/detectors/prefilter/prefilter.ts";

/** A text that anchors detectors. */
export interface Literal {
  readonly bytes: Buffer;
  /** Whether it counts only at the start of a word. */
  readonly word: boolean;
  /** The byte that must follow (detector.ts). */
  readonly needs: number | undefined;
  /** Whether the match begins with the name before the text (detector.ts). */
  readonly behindName: boolean;
  readonly groups: readonly DetectorGroup[];
  /** Whether the literal belongs to no detector, but hints at a hidden value (rendered.ts). */
  readonly isHint: boolean;
}

/** A literal, and the offset of the bytes by which it is found. */
export interface FiledLiteral {
  readonly literal: Literal;
  readonly behind: number;
  /** The byte after those, if the literal has one. */
  readonly following: number | undefined;
}

/** Literals by three of their bytes. */
export interface LiteralIndex {
  readonly grams: readonly Gram[];
  /** 1 for each byte that a literal repeats thrice, if all such literals count only at the start of a word. */
  readonly isRun: Uint8Array;
  /** The literals whose three bytes may be at the place; the caller compares the rest. */
  at(bytes: Uint8Array, place: number): readonly FiledLiteral[];
}

/** Bytes after the end of a block that are searched for literals that begin before it. */
export const LITERAL_BYTES_MAX = 64;

const NONE: readonly FiledLiteral[] = [];

/** Files each literal under those three of its bytes that are rarest in other text. */
export function createLiteralIndex(literals: readonly Literal[]): LiteralIndex {
  for (const { bytes } of literals) {
    if (bytes.length < GRAM_BYTES) throw new Error(`the literal "${bytes.toString("latin1")}" is too short to be found by`);
    if (bytes.length > LITERAL_BYTES_MAX) throw new Error(`the literal "${bytes.toString("latin1")}" is too long to be found by`);
  }
  const lists = new Map<number, FiledLiteral[]>();
  const choices = chooseGrams(
    literals.map(({ bytes }) => bytes),
    GRAM_GROUPS,
  );
  const grams = literals.map((literal, index): Gram => {
    const { behind = 0, group = 0 } = choices[index] ?? {};
    const bytes = literal.bytes.subarray(behind, behind + GRAM_BYTES);
    const key = keyOf(bytes, 0);
    const following = literal.bytes[behind + GRAM_BYTES];
    listAt(lists, key).push({ literal, behind, following });
    return { bytes, following, group };
  });
  const isRun = Uint8Array.from({ length: 256 }, (_, byte) => {
    const filed = lists.get(keyOf(new Uint8Array(GRAM_BYTES).fill(byte), 0)) ?? NONE;
    return filed.length > 0 && filed.every(({ literal, behind }) => literal.word && behind === 0) ? 1 : 0;
  });
  return { grams, isRun, at: (bytes, place) => lists.get(keyOf(bytes, place)) ?? NONE };
}

const keyOf = (bytes: Uint8Array, place: number): number =>
  ((bytes[place] as number) << 16) | ((bytes[place + 1] ?? 0) << 8) | (bytes[place + 2] ?? 0);
