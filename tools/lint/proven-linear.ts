import { byteRange, type ByteSet, oneByte } from "#rules/regex/byte-set.ts";
import { firstBytesOf, isLinear } from "#rules/regex/regex-linear.ts";
import type { Regex } from "#rules/regex/regex-syntax.ts";
import { bytePattern } from "./byte-pattern.ts";
import { isUnambiguous } from "./unambiguous.ts";

/** Steps of a backtracking engine at one position; the patterns that ship with the program are known to be reasonable. */
const STEPS_MAX = 8192;

const WORDS = byteRange(0x30, 0x39) | byteRange(0x41, 0x5a) | byteRange(0x61, 0x7a) | oneByte(0x5f);

/**
 * Whether the runtime's engine is proven to take time linear in the text. False without a proof, although most such
 * patterns are linear. A sticky pattern (`y`) is proven for one call.
 */
export function isProvenLinear(source: string, flags: string): boolean {
  const pattern = bytePattern(source, flags);
  if (pattern === null) return false;
  const { regex, hasLookAround, notBehind } = pattern;
  return alternatives(regex).every((whole) => {
    const one = hasLookAround ? whole : withoutOpenEnd(whole);
    const limits = { isAnchored: isAnchored(one), notBehind: notBehind | behindWords(one) };
    return isLinear(one, STEPS_MAX, limits.notBehind) || isUnambiguous(one, limits);
  });
}

const ALTERNATIVES_MAX = 64;

/** The alternatives, each with its surrounding pattern: `a(?:b|c)d` is `abd` and `acd`. */
function alternatives(regex: Regex): readonly Regex[] {
  if (regex.kind === "choice") return regex.items.flatMap(alternatives);
  if (regex.kind === "capture") return alternatives(regex.item);
  const items = regex.kind === "sequence" ? regex.items.flatMap(inside) : [];
  const at = items.findIndex((item) => item.kind === "choice");
  const choice = items[at];
  if (choice?.kind !== "choice" || choice.items.length > ALTERNATIVES_MAX) return [regex];
  const all = choice.items.flatMap((item) => alternatives({ kind: "sequence", items: items.toSpliced(at, 1, ...inside(item)) }));
  return all.length > ALTERNATIVES_MAX ? [regex] : all;
}

/** Groups in a sequence count as their items. */
function inside(regex: Regex): readonly Regex[] {
  if (regex.kind === "capture") return inside(regex.item);
  return regex.kind === "sequence" ? regex.items.flatMap(inside) : [regex];
}

/** A loop at the end of a match is greedy, and no later part can fail. */
function withoutOpenEnd(regex: Regex): Regex {
  if (regex.kind === "capture") return { ...regex, item: withoutOpenEnd(regex.item) };
  if (regex.kind === "choice") return { ...regex, items: regex.items.map(withoutOpenEnd) };
  if (regex.kind === "repeat" && regex.max === null && regex.item.kind === "set") return { ...regex, max: regex.min };
  const last = regex.kind === "sequence" ? regex.items.at(-1) : undefined;
  return regex.kind === "sequence" && last !== undefined ? { ...regex, items: [...regex.items.slice(0, -1), withoutOpenEnd(last)] } : regex;
}

function isAnchored(regex: Regex): boolean {
  if (regex.kind === "assert") return regex.what === "start";
  if (regex.kind === "capture") return isAnchored(regex.item);
  if (regex.kind === "choice") return regex.items.every(isAnchored);
  return regex.kind === "sequence" && regex.items[0] !== undefined && isAnchored(regex.items[0]);
}

/** A match that starts with a boundary and a letter does not start after a letter. */
function behindWords(regex: Regex): ByteSet {
  const [first, ...rest] = regex.kind === "sequence" ? regex.items : [];
  if (first?.kind !== "assert" || first.what !== "word") return 0n;
  const starts = firstBytesOf({ kind: "sequence", items: rest });
  return !starts.empty && (starts.bytes & ~WORDS) === 0n ? WORDS : 0n;
}
