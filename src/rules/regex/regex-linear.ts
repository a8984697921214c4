import type { ByteSet } from "./byte-set.ts";
import type { Regex } from "./regex-syntax.ts";

/** Steps that a backtracking engine may take at one position of the text; an upper bound, not an estimate. */
const STEPS_MAX = 512;

/**
 * An equivalent but cheaper pattern: whether a text matches does not depend on captures, on the length of a match at
 * its open ends, or on laziness.
 */
export function simplifyTest(regex: Regex): Regex {
  if (regex.kind === "capture") return simplifyTest(regex.item);
  if (regex.kind === "choice") return { kind: "choice", items: regex.items.map(simplifyTest) };
  const items = flatten(regex);
  const [first] = items;
  const last = items.at(-1);
  if (items.length === 1 && first !== undefined) return shortened(first);
  if (first !== undefined) items[0] = shortened(first);
  if (last !== undefined) items[items.length - 1] = shortened(last);
  return { kind: "sequence", items: items.flatMap(flatten) };
}

/** At an open end as many repetitions as there must be are enough. */
function shortened(regex: Regex): Regex {
  if (regex.kind !== "repeat" || regex.max === regex.min) return regex;
  return regex.min === 0 ? { kind: "sequence", items: [] } : { ...regex, max: regex.min };
}

function flatten(regex: Regex): Regex[] {
  if (regex.kind === "sequence") return regex.items.flatMap(flatten);
  return regex.kind === "capture" ? flatten(regex.item) : [regex];
}

/**
 * Whether a backtracking engine provably takes time linear in any text. It does if each position of the text costs a
 * bounded number of steps: without unbounded repetitions, or with repetitions of single bytes that end at bytes outside
 * of their own set, so that each part of the expression repeats over a position only once. `notBehind`: bytes after which
 * no match begins.
 */
export function isLinear(regex: Regex, stepsMax = STEPS_MAX, notBehind: ByteSet = 0n): boolean {
  if (regex.kind === "capture") return isLinear(regex.item, stepsMax, notBehind);
  if (regex.kind === "choice") return stepsOf(regex) <= stepsMax || regex.items.every((item) => isLinear(item, stepsMax, notBehind));
  if (stepsOf(regex) <= stepsMax) return true;
  return isLinearSequence(flatten(regex), stepsMax, notBehind);
}

interface Part {
  /** A repetition of one byte without an upper bound, or null if it has one. */
  readonly loop: ByteSet | null;
  readonly steps: number;
  readonly ways: number;
}

function isLinearSequence(items: readonly Regex[], stepsMax: number, notBehind: ByteSet): boolean {
  const parts = items.map((item) => partOf(item, stepsMax));
  if (parts.some((part) => part === null)) return false;
  const known = parts.filter((part) => part !== null);
  const behind = firstsBehind(items);
  const [first] = items;
  const anchored = isAnchored(items);
  if (stepsOfParts(items, known) > (anchored ? stepsMax : stepsMax / 8)) return false;
  const starts = firstBytes(items).bytes;
  const loops = known.filter((part) => part.loop !== null).length;
  return known.every((part, i) => {
    if (part.loop === null) return true;
    // Elsewhere each position of the text may be a start, and the loop must not run over starts.
    if (!anchored && (part.loop & starts) !== 0n && (part.loop & ~notBehind) !== 0n) return false;
    if ((part.loop & (behind[i]?.bytes ?? 0n)) === 0n) return true;
    // One loop may backtrack, if the rest has an end, and if no two starts share the loop.
    return loops === 1 && (anchored || (first?.kind === "set" && items.slice(1, i).every((item) => (bytesOf(item) & starts) === 0n)));
  });
}

const isAnchored = ([first]: readonly Regex[]): boolean => first?.kind === "assert" && first.what === "start";

/** Steps of a sequence at one position if every path is tried; each loop counts as one step. */
function stepsOfParts(items: readonly Regex[], parts: readonly Part[]): number {
  const behind = firstsBehindRepeats(items);
  const ways = parts.reduce((product, part, i) => product * (part.loop === null && isDecided(items[i], behind[i]) ? 1 : part.ways), 1);
  return ways * parts.reduce((sum, part) => sum + part.steps, 0);
}

/** Cost of a text, in steps. */
export interface RegexCost {
  readonly once: number;
  readonly perByte: number;
}

/** Upper bound of the cost of a linear pattern, for any text. */
export function regexCost(regex: Regex): RegexCost {
  if (regex.kind === "capture") return regexCost(regex.item);
  if (regex.kind === "choice") {
    const costs = regex.items.map(regexCost);
    return { once: costs.reduce((sum, { once }) => sum + once, 1), perByte: costs.reduce((sum, { perByte }) => sum + perByte, 0) };
  }
  const items = flatten(regex);
  const anchored = isAnchored(items);
  const steps = stepsOf(regex);
  if (steps <= STEPS_MAX) return anchored ? { once: steps, perByte: 0 } : { once: 0, perByte: steps };
  const parts = items.map((item) => partOf(item, STEPS_MAX)).filter((part) => part !== null);
  const once = stepsOfParts(items, parts);
  const loops = parts.filter(({ loop }) => loop !== null).length;
  const behind = firstsBehind(items);
  // Each loop passes a byte, and a byte may be a start, or the end of a loop that backtracks.
  const isStart = !anchored || parts.some(({ loop }, i) => loop !== null && (loop & (behind[i]?.bytes ?? 0n)) !== 0n);
  return { once, perByte: isStart ? loops + once : loops };
}

/** Every byte that a match of it may contain. */
const bytesOf = rememberGroups((regex: Regex): ByteSet => {
  if (regex.kind === "set") return regex.bytes;
  if (regex.kind === "assert") return 0n;
  if (regex.kind === "capture" || regex.kind === "repeat") return bytesOf(regex.item);
  return regex.items.reduce((sum, item) => sum | bytesOf(item), 0n);
});

/** Whether only one number of repetitions can match: the following part starts with none of the repeated bytes. */
const isDecided = (item: Regex | undefined, behind: First = NOTHING): boolean =>
  item?.kind === "repeat" && item.item.kind === "set" && !behind.empty && (item.item.bytes & behind.bytes) === 0n;

function partOf(regex: Regex, stepsMax: number): Part | null {
  if (regex.kind === "repeat" && regex.max === null) {
    return regex.item.kind === "set" && regex.min <= stepsMax ? { loop: regex.item.bytes, steps: regex.min + 1, ways: 1 } : null;
  }
  const steps = stepsOf(regex);
  return steps > stepsMax ? null : { loop: null, steps, ways: waysOf(regex) };
}

/** Upper bound of the ways to match at one position; infinite for unbounded repetitions. */
const waysOf = rememberGroups((regex: Regex): number => {
  if (regex.kind === "set" || regex.kind === "assert") return 1;
  if (regex.kind === "capture") return waysOf(regex.item);
  if (regex.kind === "choice") return regex.items.reduce((sum, item) => sum + waysOf(item), 0);
  if (regex.kind === "sequence") {
    const behind = firstsBehindRepeats(regex.items);
    return regex.items.reduce((product, item, i) => product * (isDecided(item, behind[i]) ? 1 : waysOf(item)), 1);
  }
  if (regex.max === null) return Number.POSITIVE_INFINITY;
  const ways = waysOf(regex.item);
  return ways === 1 ? regex.max - regex.min + 1 : ways ** regex.max * (regex.max - regex.min + 1);
});

/** Upper bound of the steps at one position, if every path is tried. */
const stepsOf = rememberGroups((regex: Regex): number => {
  if (regex.kind === "set" || regex.kind === "assert") return 1;
  if (regex.kind === "capture") return stepsOf(regex.item);
  if (regex.kind === "choice") return regex.items.reduce((sum, item) => sum + stepsOf(item), 1);
  if (regex.kind === "repeat") {
    if (regex.max === null) return Number.POSITIVE_INFINITY;
    return Math.max(1, regex.max) * stepsOf(regex.item) * (waysOf(regex.item) === 1 ? 1 : waysOf(regex));
  }
  let ways = 1;
  let steps = 1;
  const behind = firstsBehindRepeats(regex.items);
  for (const [i, item] of regex.items.entries()) {
    steps += ways * stepsOf(item);
    // Backtracking gives a decided item back byte by byte, which doubles its steps but adds no ways.
    if (isDecided(item, behind[i])) steps += ways * stepsOf(item);
    else ways *= waysOf(item);
  }
  return steps;
});

/** Possible first bytes of a match, and whether it may be empty. */
interface First {
  readonly bytes: ByteSet;
  readonly empty: boolean;
}

const NOTHING: First = { bytes: 0n, empty: true };

/** For each item the first bytes of the rest, each computed once. */
const firstsBehind = rememberEach((items: readonly Regex[]): readonly First[] => {
  const behind = Array.from<First>({ length: items.length });
  let after = NOTHING;
  for (let i = items.length - 1; i >= 0; i--) {
    behind[i] = after;
    const first = firstOf(items[i] as Regex);
    after = first.empty ? { bytes: first.bytes | after.bytes, empty: after.empty } : first;
  }
  return behind;
});

/** As `firstsBehind`, where only those behind repetitions matter: most sequences have none. */
const firstsBehindRepeats = (items: readonly Regex[]): readonly First[] =>
  items.some(({ kind }) => kind === "repeat") ? firstsBehind(items) : [];

export const firstBytesOf = (regex: Regex): First => firstOf(regex);

/** Remembers results, because a part is requested once for each of those around it, which may be a hundred. */
function rememberEach<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) known.set(key, (value = compute(key)));
    return value;
  };
}

/** As `rememberEach`; single bytes, which are most of a pattern, cost less than to remember them. */
function rememberGroups<V>(compute: (regex: Regex) => V): (regex: Regex) => V {
  const remembered = rememberEach(compute);
  return (regex) => (regex.kind === "set" || regex.kind === "assert" ? compute(regex) : remembered(regex));
}

function firstBytes(items: readonly Regex[]): First {
  let bytes = 0n;
  for (const item of items) {
    const first = firstOf(item);
    bytes |= first.bytes;
    if (!first.empty) return { bytes, empty: false };
  }
  return { bytes, empty: true };
}

const firstOf = rememberGroups((regex: Regex): First => {
  if (regex.kind === "set") return { bytes: regex.bytes, empty: false };
  // After the end of the text or of a line, only the end or a line break can follow.
  if (regex.kind === "assert") return { bytes: 0n, empty: regex.what !== "end" };
  if (regex.kind === "capture") return firstOf(regex.item);
  if (regex.kind === "sequence") return firstBytes(regex.items);
  if (regex.kind === "choice") {
    const firsts = regex.items.map(firstOf);
    return { bytes: firsts.reduce((sum, first) => sum | first.bytes, 0n), empty: firsts.some((first) => first.empty) };
  }
  const first = firstOf(regex.item);
  return { bytes: first.bytes, empty: first.empty || regex.min === 0 };
});

/**
 * Whether a repeated part may match nothing or capture. Engines differ in the length of such a match, and in the
 * content of a group that was not part of the last repetition.
 */
export function repeatsOddly(regex: Regex): boolean {
  if (regex.kind === "repeat") return mayBeEmpty(regex.item) || captures(regex.item) || repeatsOddly(regex.item);
  if (regex.kind === "capture") return repeatsOddly(regex.item);
  return (regex.kind === "sequence" || regex.kind === "choice") && regex.items.some(repeatsOddly);
}

function captures(regex: Regex): boolean {
  if (regex.kind === "repeat") return captures(regex.item);
  return regex.kind === "capture" || ((regex.kind === "sequence" || regex.kind === "choice") && regex.items.some(captures));
}

function mayBeEmpty(regex: Regex): boolean {
  if (regex.kind === "repeat") return regex.min === 0 || mayBeEmpty(regex.item);
  if (regex.kind === "capture") return mayBeEmpty(regex.item);
  if (regex.kind === "sequence") return regex.items.every(mayBeEmpty);
  return regex.kind === "choice" ? regex.items.some(mayBeEmpty) : regex.kind === "assert";
}
