import { ALL_BYTES } from "#rules/expression/regex/byte-set.ts";
import { type First, firstOf, followedBy, shortestOf } from "./first-bytes.ts";
import type { PcreNode } from "./pcre-node.ts";

/** What a backtracking engine may do at one place of a text, at most: steps, and ways in which a match may go on. */
interface Bound {
  readonly steps: number;
  readonly ways: number;
}

// Up to here a text is given to the runtime's engine: so many steps for each byte, and as many as cost nothing worth speaking of.
const STEPS_PER_BYTE = 48;
const STEPS_FREE = 4096;

/** Beyond any text: the engine is proven to be linear. */
export const ANY_LENGTH = 1 << 28;

/** The longest text whose time is bounded when the runtime's engine looks for the pattern in it, whatever the text is. */
export function nativeBytesMax(node: PcreNode, isOneLine: boolean): number {
  const isAnchored = beginsAtStart(node, isOneLine);
  const fits = (bytes: number): boolean => {
    const { steps } = boundOf(node, bytes, END);
    return steps * (isAnchored ? 1 : bytes + 1) <= STEPS_PER_BYTE * bytes + STEPS_FREE;
  };
  let known = 0;
  for (let bytes = 16; bytes <= ANY_LENGTH && fits(bytes); bytes *= 2) known = bytes;
  if (known === ANY_LENGTH || known === 0) return known;
  let step = known;
  while ((step >>= 1) >= 8) if (fits(known + step)) known += step;
  return known;
}

// Behind the end of the pattern nothing is tried again.
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
      return { steps: 1, ways: 1 };
    case "reference":
      return { steps: bytes, ways: 1 };
    case "capture":
      return boundOf(node.item, bytes, follow);
    case "atomic":
      return { steps: boundOf(node.item, bytes, ANYTHING).steps, ways: 1 };
    case "look":
      return { steps: boundOf(node.item, bytes, ANYTHING).steps, ways: 1 };
    case "sequence":
      return boundOfSequence(node.items, bytes, follow);
    case "choice":
      return boundOfChoice(node.items, bytes, follow);
    case "repeat":
      return boundOfRepeat(node.item, node.min, node.max, bytes, follow);
  }
}

const ANYTHING: First = { bytes: ALL_BYTES, isNullable: true };

function boundOfSequence(items: readonly PcreNode[], bytes: number, follow: First): Bound {
  const follows: First[] = [];
  for (let i = items.length - 1, next = follow; i >= 0; i--) {
    follows[i] = next;
    next = followedBy(firstOf(items[i]!), next);
  }
  let steps = 1;
  let ways = 1;
  for (const [i, item] of items.entries()) {
    const bound = boundOf(item, bytes, follows[i]!);
    steps += ways * bound.steps;
    ways *= bound.ways;
  }
  return { steps, ways };
}

/** Of several branches only those go on that can begin with the byte that is there. */
function boundOfChoice(items: readonly PcreNode[], bytes: number, follow: First): Bound {
  const bounds = items.map((item) => boundOf(item, bytes, follow));
  const firsts = items.map(firstOf);
  let seen = 0n;
  const areDisjoint = firsts.every(({ bytes: first, isNullable }) => {
    const isNew = !isNullable && (seen & first) === 0n;
    seen |= first;
    return isNew;
  });
  const steps = items.length + (areDisjoint ? Math.max : sum)(...bounds.map((bound) => bound.steps));
  return { steps, ways: (areDisjoint ? Math.max : sum)(...bounds.map((bound) => bound.ways)) };
}

const sum = (...numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function boundOfRepeat(item: PcreNode, min: number, max: number | null, bytes: number, follow: First): Bound {
  const first = firstOf(item);
  const again: First = { bytes: first.bytes | follow.bytes, isNullable: follow.isNullable };
  const { steps, ways } = boundOf(item, bytes, again);
  const times = Math.min(max ?? Number.POSITIVE_INFINITY, Math.floor(bytes / Math.max(1, shortestOf(item))) + 1);
  // Where what follows begins otherwise than what is repeated, only one number of repetitions can be right.
  const isDecided = !follow.isNullable && !first.isNullable && (first.bytes & follow.bytes) === 0n;
  if (first.isNullable && max === null) return { steps: Number.POSITIVE_INFINITY, ways: Number.POSITIVE_INFINITY };
  if (ways === 1) return { steps: times * steps * 2 + 1, ways: isDecided ? 1 : times - Math.min(min, times) + 1 };
  const all = ways ** times;
  return { steps: all * times * steps + 1, ways: isDecided ? all : all * times };
}
