import { listAt } from "#kernel/lists.ts";
import type { DetectorGroup } from "./detector-group.ts";
import { chooseGrams, GRAM_BYTES } from "./gram-groups.ts";
import { GRAM_GROUPS, type Gram } from "./prefilter.ts";

/** A text that detectors begin at. */
export interface Literal {
  readonly bytes: Buffer;
  /** Only at the start of a word. */
  readonly word: boolean;
  /** The byte that has to follow (detector.ts). */
  readonly needs: number | undefined;
  /** The match begins with the name before the text (detector.ts). */
  readonly behindName: boolean;
  readonly groups: readonly DetectorGroup[];
  /** No detector's: a value may be hidden here (rendered.ts). */
  readonly isHint: boolean;
}

/** A literal, and how far behind its start the bytes stand that it is found by. */
export interface FiledLiteral {
  readonly literal: Literal;
  readonly behind: number;
  /** The byte behind those, where the literal has one. */
  readonly following: number | undefined;
}

/** Literals by three of their bytes. */
export interface LiteralIndex {
  readonly grams: readonly Gram[];
  /** Those whose three bytes may stand at the place: the caller compares the rest. */
  at(bytes: Uint8Array, place: number): readonly FiledLiteral[];
}

/** Behind the end of a block, so much is looked at for those that begin before it. */
export const LITERAL_BYTES_MAX = 64;

const NONE: readonly FiledLiteral[] = [];

/** Each literal is filed under those three of its bytes that other text has least. */
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
  return { grams, at: (bytes, place) => lists.get(keyOf(bytes, place)) ?? NONE };
}

const keyOf = (bytes: Uint8Array, place: number): number =>
  ((bytes[place] as number) << 16) | ((bytes[place + 1] ?? 0) << 8) | (bytes[place + 2] ?? 0);
