import { ALL_BYTES, type ByteSet } from "#rules/regex/byte-set.ts";
import type { PcreNode } from "./pcre-node.ts";

/** The possible first bytes of a match, and whether it may be empty. */
export interface First {
  readonly bytes: ByteSet;
  readonly isNullable: boolean;
}

const NOTHING: First = { bytes: 0n, isNullable: true };
const known = new WeakMap<PcreNode, First>();

export function firstOf(node: PcreNode): First {
  let first = known.get(node);
  if (first === undefined) known.set(node, (first = findFirst(node)));
  return first;
}

/** The possible first bytes of a sequence: those of `next` count too if `first` may be empty. */
export const followedBy = (first: First, next: First): First =>
  first.isNullable ? { bytes: first.bytes | next.bytes, isNullable: next.isNullable } : first;

function findFirst(node: PcreNode): First {
  switch (node.kind) {
    case "set":
      return { bytes: node.bytes, isNullable: false };
    case "assert":
    case "look":
      return NOTHING;
    case "reference":
      return { bytes: ALL_BYTES, isNullable: true };
    case "capture":
    case "atomic":
      return firstOf(node.item);
    case "sequence":
      return node.items.reduceRight<First>((rest, item) => followedBy(firstOf(item), rest), NOTHING);
    case "choice": {
      const firsts = node.items.map(firstOf);
      return { bytes: firsts.reduce((sum, { bytes }) => sum | bytes, 0n), isNullable: firsts.some(({ isNullable }) => isNullable) };
    }
    case "repeat": {
      const first = firstOf(node.item);
      return { bytes: first.bytes, isNullable: first.isNullable || node.min === 0 };
    }
  }
}

/** The fewest bytes that a match has. */
export function shortestOf(node: PcreNode): number {
  switch (node.kind) {
    case "set":
      return 1;
    case "assert":
    case "look":
    case "reference":
      return 0;
    case "capture":
    case "atomic":
      return shortestOf(node.item);
    case "sequence":
      return node.items.reduce((sum, item) => sum + shortestOf(item), 0);
    case "choice":
      return Math.min(...node.items.map(shortestOf));
    case "repeat":
      return node.min * shortestOf(node.item);
  }
}
