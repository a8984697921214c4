import type { ByteSet } from "#rules/regex/byte-set.ts";
import type { PcreNode } from "../patterns/pcre-node.ts";

const EXACT_MAX = 200;
const EXACT_BYTES_MAX = 20;
const LITERALS_MAX = 500;
const LITERAL_BYTES_MIN = 2;
const SET_BYTES_MAX = 12;

/** Facts about a node: every text that it matches, or literals one of which every match contains; in lower case. */
interface Known {
  readonly exact: readonly string[] | null;
  readonly required: readonly string[] | null;
}

const UNKNOWN: Known = { exact: null, required: null };
const EMPTY: Known = { exact: [""], required: null };

/** Literals one of which every matching text contains, in lower case; null if none is certain. */
export function requiredLiterals(pattern: PcreNode): readonly string[] | null {
  const found = literalsOf(knownOf(pattern));
  if (found === null || found.length === 0) return null;
  const shortest = [...new Set(found)].sort((a, b) => a.length - b.length);
  if (shortest[0]!.length < LITERAL_BYTES_MIN) return null;
  // A literal that contains a shorter one is redundant.
  const kept: string[] = [];
  for (const literal of shortest) if (shortest.length > 600 || !kept.some((part) => literal.includes(part))) kept.push(literal);
  return kept;
}

const literalsOf = ({ exact, required }: Known): readonly string[] | null =>
  exact === null ? required : exact.every((text) => text !== "") ? exact : null;

function knownOf(node: PcreNode): Known {
  switch (node.kind) {
    case "set":
      return { exact: lettersOf(node.bytes), required: null };
    case "assert":
    case "look":
      return EMPTY;
    case "reference":
      return UNKNOWN;
    case "capture":
    case "atomic":
      return knownOf(node.item);
    case "sequence":
      return knownOfSequence(node.items);
    case "choice":
      return knownOfChoice(node.items);
    case "repeat":
      return knownOfRepeat(node);
  }
}

function knownOfSequence(items: readonly PcreNode[]): Known {
  let current: readonly string[] = [""];
  let best: readonly string[] | null = null;
  let isExact = true;
  const flush = (): void => {
    if (current.every((text) => text !== "")) best = better(best, current);
    current = [""];
  };
  for (const item of items) {
    const { exact, required } = knownOf(item);
    if (exact === null) {
      isExact = false;
      flush();
      best = better(best, required);
      continue;
    }
    const longest = Math.max(0, ...current.map((text) => text.length));
    if (current.length * exact.length <= EXACT_MAX && longest < EXACT_BYTES_MAX) {
      current = [...new Set(current.flatMap((left) => exact.map((right) => left + right)))];
    } else {
      isExact = false;
      flush();
      current = exact;
    }
  }
  if (isExact) return { exact: current, required: null };
  flush();
  return { exact: null, required: best };
}

function knownOfChoice(items: readonly PcreNode[]): Known {
  const all = items.map(knownOf);
  const exact = all.every((known) => known.exact !== null) ? [...new Set(all.flatMap((known) => known.exact ?? []))] : null;
  if (exact !== null && exact.length <= EXACT_MAX) return { exact, required: null };
  const literals = all.map(literalsOf);
  if (literals.includes(null)) return UNKNOWN;
  const required = [...new Set(literals.flatMap((texts) => texts ?? []))];
  return { exact: null, required: required.length <= LITERALS_MAX ? required : null };
}

function knownOfRepeat({ item, min, max }: Extract<PcreNode, { kind: "repeat" }>): Known {
  const known = knownOf(item);
  if (min === 0) {
    const isOptional = max === 1 && known.exact !== null && known.exact.length < 50;
    return isOptional ? { exact: [...new Set(["", ...known.exact])], required: null } : UNKNOWN;
  }
  if (min === max && known.exact !== null && known.exact.length ** min <= EXACT_MAX)
    return knownOfSequence(Array.from({ length: min }, () => item));
  return { exact: null, required: literalsOf(known) };
}

/** Longer and fewer literals are more selective. */
function better(left: readonly string[] | null, right: readonly string[] | null): readonly string[] | null {
  return scoreOf(right) > scoreOf(left) ? right : left;
}

function scoreOf(literals: readonly string[] | null): number {
  if (literals === null || literals.length === 0) return -1;
  const shortest = literals.reduce((least, text) => Math.min(least, text.length), 99);
  return shortest === 0 ? -1 : Math.min(shortest, 8) * 1000 - literals.length;
}

const letters = new Map<ByteSet, readonly string[] | null>();

/** The texts of one byte that a set matches, if they are few. */
function lettersOf(bytes: ByteSet): readonly string[] | null {
  let known = letters.get(bytes);
  if (known === undefined) letters.set(bytes, (known = listLetters(bytes)));
  return known;
}

function listLetters(bytes: ByteSet): readonly string[] | null {
  const found = new Set<string>();
  const bits = bytes.toString(2).padStart(256, "0");
  for (let byte = 0; byte < 256; byte++) {
    if (bits[255 - byte] === "0") continue;
    found.add(String.fromCharCode(byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte));
    if (found.size > SET_BYTES_MAX) return null;
  }
  return [...found];
}
