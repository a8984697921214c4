import { type ByteSet, oneByte } from "#rules/regex/byte-set.ts";
import { simplifyTest } from "#rules/regex/regex-linear.ts";
import { parseRegex, type Regex } from "#rules/regex/regex-syntax.ts";

/** Literals of which every match has at least one. */
export type Group = readonly string[];

const GROUPS_MAX = 3;
const LITERALS_MAX = 96;
const EXACT_MAX = 48;
/** The beginning of a literal is in every match too, and makes a smaller automaton. */
const LITERAL_BYTES_MAX = 8;

/** Groups of literals: every match of a pattern has one literal of each. The most selective come first; few, or none. */
export const requiredGroups = (pattern: string): readonly Group[] => best(groupsOf(simplifyTest(parseRegex(pattern))));

function groupsOf(regex: Regex): readonly Group[] {
  switch (regex.kind) {
    case "set":
      return usable(charsOf(regex.bytes) ?? []);
    case "capture":
      return groupsOf(regex.item);
    case "repeat":
      return regex.min > 0 ? groupsOf(regex.item) : [];
    case "sequence":
      return ofSequence(regex.items);
    case "choice":
      return ofChoice(regex.items.map((item) => best(groupsOf(item))));
    default:
      return [];
  }
}

function ofSequence(items: readonly Regex[]): readonly Group[] {
  const groups: Group[] = [];
  let pieces: readonly string[] = [""];
  for (const item of items) {
    const exact = exactTexts(item);
    const longer = exact === null ? null : crossed(pieces, exact);
    if (longer !== null) pieces = longer;
    else {
      groups.push(...usable(pieces), ...groupsOf(item));
      pieces = [""];
    }
  }
  return [...groups, ...usable(pieces)];
}

/** All matching texts, if they are few. Assertions, such as the end of a word, match no byte and so no text. */
function exactTexts(regex: Regex): readonly string[] | null {
  switch (regex.kind) {
    case "set":
      return charsOf(regex.bytes);
    case "assert":
      return [""];
    case "capture":
      return exactTexts(regex.item);
    case "repeat": {
      const once = regex.max === 1 ? exactTexts(regex.item) : null;
      return once === null || regex.min === 1 ? once : ["", ...once];
    }
    case "sequence":
      return regex.items.reduce<readonly string[] | null>(
        (texts, item) => {
          const exact = texts === null ? null : exactTexts(item);
          return texts === null || exact === null ? null : crossed(texts, exact);
        },
        [""],
      );
    default: {
      const all = regex.items.map(exactTexts);
      const texts = all.flatMap((some) => some ?? []);
      return all.includes(null) || texts.length > EXACT_MAX ? null : texts;
    }
  }
}

function crossed(texts: readonly string[], more: readonly string[]): readonly string[] | null {
  return texts.length * more.length > EXACT_MAX ? null : texts.flatMap((text) => more.map((end) => text + end));
}

/** A match has one alternative, and the literals of that one. */
function ofChoice(alternatives: readonly (readonly Group[])[]): readonly Group[] {
  const count = Math.min(...alternatives.map((groups) => groups.length));
  return Array.from({ length: count }, (_, i) => [...new Set(alternatives.flatMap((groups) => groups[i]!))]).filter(
    (group) => group.length <= LITERALS_MAX,
  );
}

const best = (groups: readonly Group[]): readonly Group[] =>
  groups.toSorted((a, b) => shortest(b) - shortest(a) || a.length - b.length).slice(0, GROUPS_MAX);
const shortest = (group: Group): number => Math.min(...group.map((literal) => literal.length));

/** Single bytes are in every text. */
function usable(texts: readonly string[]): readonly Group[] {
  const group = [...new Set(texts.map((text) => text.slice(0, LITERAL_BYTES_MAX)))];
  return group.length === 0 || group.some((literal) => literal.length < 2) ? [] : [group];
}

const CHARS_MAX = 6;

/** Patterns have the same few sets again and again. */
const charsOfSets = new Map<ByteSet, readonly string[] | null>();

/** The bytes of a small set; null for a larger one. */
function charsOf(bytes: ByteSet): readonly string[] | null {
  let chars = charsOfSets.get(bytes);
  if (chars === undefined) charsOfSets.set(bytes, (chars = listed(bytes)));
  return chars;
}

function listed(bytes: ByteSet): readonly string[] | null {
  const chars: string[] = [];
  for (const [byte, one] of ONES.entries())
    if ((bytes & one) !== 0n) {
      if (chars.length === CHARS_MAX) return null;
      chars.push(String.fromCharCode(byte));
    }
  return chars;
}

const ONES: readonly ByteSet[] = Array.from({ length: 256 }, (_, byte) => oneByte(byte));
