import type { ByteSet } from "#rules/regex/byte-set.ts";
import type { PcreNode } from "../patterns/pcre-node.ts";
import { type ByteMask, maskOfBytes, weightOf } from "./byte-classes.ts";

// A clause that most texts satisfy is not worth testing.
const WEIGHT_MAX = 40;
const CLAUSES_MAX = 6;

/** Clauses that a text must all satisfy, by a byte of their classes, for the pattern to match in it. */
export function requiredClasses(pattern: PcreNode): readonly ByteMask[] {
  return clausesOf(pattern);
}

function clausesOf(node: PcreNode): readonly ByteMask[] {
  switch (node.kind) {
    case "set": {
      const mask = maskOf(node.bytes);
      return weightOf(mask) >= WEIGHT_MAX ? [] : [mask];
    }
    case "sequence":
      return pruned(node.items.flatMap(clausesOf));
    case "capture":
    case "atomic":
      return clausesOf(node.item);
    case "repeat":
      return node.min > 0 ? clausesOf(node.item) : [];
    case "choice":
      return clausesOfChoice(node.items);
    case "assert":
    case "look":
    case "reference":
      return [];
  }
}

/** A text that satisfies a clause of each branch satisfies the union of both. */
function clausesOfChoice(items: readonly PcreNode[]): readonly ByteMask[] {
  let all: readonly ByteMask[] | null = null;
  for (const item of items) {
    const clauses = clausesOf(item);
    all =
      all === null
        ? clauses
        : pruned(all.flatMap((left) => clauses.map((right) => ({ low: left.low | right.low, high: left.high | right.high }))));
    if (all.length === 0) return all;
  }
  return all ?? [];
}

/** The narrowest clauses, without those implied by others. */
function pruned(clauses: readonly ByteMask[]): readonly ByteMask[] {
  const kept: ByteMask[] = [];
  for (const clause of [...clauses].sort((a, b) => weightOf(a) - weightOf(b))) {
    if (kept.length === CLAUSES_MAX || weightOf(clause) >= WEIGHT_MAX) break;
    if (!kept.some(({ low, high }) => (low & ~clause.low) === 0 && (high & ~clause.high) === 0)) kept.push(clause);
  }
  return kept;
}

const masks = new Map<ByteSet, ByteMask>();

function maskOf(bytes: ByteSet): ByteMask {
  let mask = masks.get(bytes);
  if (mask === undefined) masks.set(bytes, (mask = maskOfBytes(bytes)));
  return mask;
}
