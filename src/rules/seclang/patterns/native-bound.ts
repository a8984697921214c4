import { ALL_BYTES } from "#rules/regex/byte-set.ts";
import { type First, firstOf, followedBy, shortestOf } from "./first-bytes.ts";
import type { PcreNode } from "./pcre-node.ts";

/**
 * Upper bounds of a backtracking engine at one position of a text: steps, further steps per byte that it passes, and the
 * number of ways in which a match may continue.
 */
interface Bound {
  readonly once: number;
  readonly perByte: number;
  readonly ways: number;
}

// Limits for the runtime's engine: steps per byte of a text, and a number of steps whose cost is negligible.
const STEPS_PER_BYTE = 48;
const STEPS_FREE = 4096;

/** Beyond any text: the engine is provably linear. */
export const ANY_LENGTH = 1 << 28;

/** The longest text, of any content, for which the time of the runtime's engine is bounded. */
export function nativeBytesMax(node: PcreNode, isOneLine: boolean): number {
  const isAnchored = beginsAtStart(node, isOneLine);
  const fits = (bytes: number): boolean => {
    const { once, perByte } = boundOf(node, bytes, END);
    return (once + perByte * bytes) * (isAnchored ? 1 : bytes + 1) <= STEPS_PER_BYTE * bytes + STEPS_FREE;
  };
  let known = 0;
  for (let bytes = 16; bytes <= ANY_LENGTH && fits(bytes); bytes *= 2) known = bytes;
  if (known === ANY_LENGTH || known === 0) return known;
  let step = known;
  while ((step >>= 1) >= 8) if (fits(known + step)) known += step;
  return known;
}

// After the end of the pattern nothing is tried again.
const END: First = { bytes: 0n, isNullable: false };

function beginsAtStart(node: PcreNode, isOneLine: boolean): boolean {
  if (node.kind === "sequence") return node.items[0] !== undefined && beginsAtStart(node.items[0], isOneLine);
  if (node.kind === "choice") return node.items.every((item) => beginsAtStart(item, isOneLine));
  if (node.kind === "capture" || node.kind === "atomic") return beginsAtStart(node.item, isOneLine);
  return node.kind === "assert" && (node.what === "start" || (isOneLine && node.what === "line-start"));
}

function boundOf(node: PcreNode, bytes: number, follow: First): Bound {
  switch (node.kind) {
    case "set":
    case "assert":
      return ONE_STEP;
    case "reference":
      return { once: 1, perByte: 1, ways: 1 };
    case "capture":
      return boundOf(node.item, bytes, follow);
    case "atomic":
    case "look":
      return { ...boundOf(node.item, bytes, ANYTHING), ways: 1 };
    case "sequence":
      return boundOfSequence(node.items, bytes, follow);
    case "choice":
      return boundOfChoice(node.items, bytes, follow);
    case "repeat":
      return boundOfRepeat(node, bytes, follow);
  }
}

const ONE_STEP: Bound = { once: 1, perByte: 0, ways: 1 };
const UNBOUNDED: Bound = { once: Number.POSITIVE_INFINITY, perByte: Number.POSITIVE_INFINITY, ways: Number.POSITIVE_INFINITY };
const ANYTHING: First = { bytes: ALL_BYTES, isNullable: true };

function boundOfSequence(items: readonly PcreNode[], bytes: number, follow: First): Bound {
  const follows: First[] = [];
  for (let i = items.length - 1, next = follow; i >= 0; i--) {
    follows[i] = next;
    next = followedBy(firstOf(items[i]!), next);
  }
  let once = 1;
  let perByte = 0;
  let ways = 1;
  for (const [i, item] of items.entries()) {
    const bound = boundOf(item, bytes, follows[i]!);
    once += ways * bound.once;
    perByte += ways * bound.perByte;
    ways *= bound.ways;
  }
  return { once, perByte, ways };
}

/** If no two branches begin with the same byte, only one of them continues. */
function boundOfChoice(items: readonly PcreNode[], bytes: number, follow: First): Bound {
  const bounds = items.map((item) => boundOf(item, bytes, follow));
  let seen = 0n;
  const areDisjoint = items.every((item) => {
    const { bytes: first, isNullable } = firstOf(item);
    const isNew = !isNullable && (seen & first) === 0n;
    seen |= first;
    return isNew;
  });
  const of = areDisjoint ? most : total;
  return {
    once: items.length + of(bounds.map(({ once }) => once)),
    perByte: of(bounds.map(({ perByte }) => perByte)),
    ways: of(bounds.map(({ ways }) => ways)),
  };
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);
const most = (numbers: readonly number[]): number => numbers.reduce((max, number) => Math.max(max, number), 0);

function boundOfRepeat({ item, min, max }: Extract<PcreNode, { kind: "repeat" }>, bytes: number, follow: First): Bound {
  const first = firstOf(item);
  if (first.isNullable && max === null) return UNBOUNDED;
  const again: First = { bytes: first.bytes | follow.bytes, isNullable: follow.isNullable };
  const { once, perByte, ways } = boundOf(item, bytes, again);
  const shortest = Math.max(1, shortestOf(item));
  const times = Math.min(max ?? Number.POSITIVE_INFINITY, Math.floor(bytes / shortest) + 1);
  // If the rest begins with other bytes than the repeated item, only one number of repetitions can be right.
  const isDecided = !follow.isNullable && !first.isNullable && (first.bytes & follow.bytes) === 0n;
  // Each repetition passes different bytes, and the last one, which fails, may pass as many again.
  if (ways === 1) {
    const perPassed = 2 * perByte + (2 * once) / shortest;
    const steps = max === null ? { once: 2 * once, perByte: perPassed } : { once: 2 * once * times, perByte: 2 * perByte };
    return { ...steps, ways: isDecided ? 1 : times - Math.min(min, times) + 1 };
  }
  const all = ways ** times;
  return { once: all * times * once, perByte: all * times * perByte, ways: isDecided ? all : all * times };
}
