import type { DetectorGroup } from "./compiled.ts";
import { GRAM_BYTES } from "./prefilter.ts";

/** A text that detectors begin at. */
export interface Literal {
  readonly bytes: Buffer;
  /** Only at the start of a word. */
  readonly word: boolean;
  readonly groups: readonly DetectorGroup[];
}

/** A literal, and how far behind its start the bytes stand that it is found by. */
export interface FiledLiteral {
  readonly literal: Literal;
  readonly behind: number;
}

/** Literals by three of their bytes. */
export interface LiteralIndex {
  readonly grams: readonly Uint8Array[];
  /** Those whose three bytes may stand at the place: the caller compares the rest. */
  at(bytes: Uint8Array, place: number): readonly FiledLiteral[];
}

const NONE: readonly FiledLiteral[] = [];

/** Each literal is filed under the three of its bytes that other text has least. */
export function createLiteralIndex(literals: readonly Literal[]): LiteralIndex {
  const lists = new Map<number, FiledLiteral[]>();
  const grams = new Map<string, Uint8Array>();
  for (const literal of literals) {
    const behind = rarestGram(literal.bytes);
    const gram = literal.bytes.subarray(behind, behind + GRAM_BYTES);
    grams.set(gram.toString("latin1"), gram);
    const key = keyOf(gram, 0);
    lists.set(key, [...(lists.get(key) ?? []), { literal, behind }]);
  }
  return {
    grams: [...grams.values()],
    at: (bytes, place) => lists.get(keyOf(bytes, place)) ?? NONE,
  };
}

const keyOf = (bytes: Uint8Array, place: number): number =>
  ((bytes[place] as number) << 16) | ((bytes[place + 1] ?? 0) << 8) | (bytes[place + 2] ?? 0);

function rarestGram(bytes: Buffer): number {
  if (bytes.length < GRAM_BYTES) throw new Error(`the literal "${bytes.toString("latin1")}" is too short to be found by`);
  let best = 0;
  let bestCost = Number.POSITIVE_INFINITY;
  for (let at = 0; at + GRAM_BYTES <= bytes.length; at++) {
    const cost = bytes.subarray(at, at + GRAM_BYTES).reduce((product, byte) => product * commonness(byte), 1);
    if (cost < bestCost) [best, bestCost] = [at, cost];
  }
  return best;
}

/** A rough share of each kind of byte in text, JSON and HTML. */
function commonness(byte: number): number {
  const char = String.fromCharCode(byte);
  if (/[etaoinsr]/.test(char)) return 60;
  if (/[a-z]/.test(char)) return /[jqxzkvw]/.test(char) ? 6 : 25;
  if (/[0-9]/.test(char)) return 15;
  if (/[A-Z]/.test(char)) return 6;
  return /[-_./"=<>: ]/.test(char) ? (char === "_" ? 5 : 20) : 3;
}
