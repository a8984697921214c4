/** A word up to this length counts only as a separate word: `sin` is a part of `using`. */
const SHORT_CHARACTERS_MAX = 3;

/** Finds the things whose words a text contains. */
export interface NamedIndex<Thing> {
  /** `before`: the result of `textBefore`. */
  in(before: string): Named<Thing>;
}

export interface Named<Thing> {
  has(thing: Thing): boolean;
}

interface Entry<Thing> {
  /** The word's characters as lower-case letters and as capitals, with GAP between its parts. */
  readonly small: readonly number[];
  readonly capital: readonly number[];
  readonly isShort: boolean;
  readonly things: ReadonlySet<Thing>;
}

/**
 * Finds the words of all detectors in one pass, because dozens of them may search the text before the same number. Words
 * match lower-case letters and capitals, with and without accents, with up to two separators between their parts. Words
 * of up to three letters must not be next to letters of the same word, as in `nhs-no` and `nhsNumber`; longer ones may be
 * a part of a key such as `customerpassportno`.
 */
export function namedIndex<Thing>(words: Iterable<readonly [thing: Thing, words: readonly string[]]>): NamedIndex<Thing> {
  const things = new Map<string, Set<Thing>>();
  for (const [thing, own] of words) {
    for (const word of own.map(folded)) {
      const known = things.get(word) ?? new Set<Thing>();
      things.set(word, known.add(thing));
    }
  }
  const byStart = new Map<number, Entry<Thing>[]>();
  const isStart = new Uint8Array(STARTS);
  for (const [word, named] of things) {
    const entry = { ...charactersOf(word), isShort: word.length <= SHORT_CHARACTERS_MAX, things: named };
    for (const start of startsOf(word)) {
      const entries = byStart.get(start);
      if (entries === undefined) byStart.set(start, [entry]);
      else entries.push(entry);
      isStart[start] = 1;
    }
  }
  return {
    in: (before) => {
      const found: ReadonlySet<Thing>[] = [];
      let start = 0;
      // To two characters after the end, because shorter words have no third character.
      for (let at = 0; at < before.length + 2; at++) {
        start = ((start << 5) | (before.charCodeAt(at) & 31)) & (STARTS - 1);
        if (isStart[start] === 0 || at < 2) continue;
        for (const entry of byStart.get(start) ?? []) {
          const end = wordEnd(entry, before, at - 2);
          if (end < 0 || found.includes(entry.things) || (entry.isShort && !standsAlone(before, at - 2, end))) continue;
          found.push(entry.things);
        }
      }
      return { has: (thing) => found.some((named) => named.has(thing)) };
    },
  };
}

/** End of the word that begins at `at`; -1 if the text has another word there. */
function wordEnd({ small, capital }: Entry<unknown>, text: string, at: number): number {
  let end = at;
  for (let i = 0; i < small.length; i++) {
    const wanted = small[i] as number;
    if (wanted === GAP) {
      if (IS_SEPARATOR[text.charCodeAt(end)] === 1) end++;
      if (IS_SEPARATOR[text.charCodeAt(end)] === 1) end++;
      continue;
    }
    const code = text.charCodeAt(end++);
    if (code !== wanted && code !== capital[i]) return -1;
  }
  return end;
}

const GAP = 0;
/** Separators for a space in a word: none, one or two of these. */
const IS_SEPARATOR = Uint8Array.from({ length: 128 }, (_, code) => (" _.-".includes(String.fromCharCode(code)) ? 1 : 0));

function charactersOf(word: string): Pick<Entry<unknown>, "small" | "capital"> {
  // No part may begin with a separator, because the gap before it would take it.
  if (/ [ _.-]|^ | $/.test(word)) throw new Error(`the word "${word}" has a part that begins with a separator`);
  const codes = (text: string): readonly number[] => Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  return { small: codes(word).map(gapped), capital: Array.from(codes(word), capitalOf).map(gapped) };
}

const gapped = (code: number): number => (code === 0x20 ? GAP : code);

/** The capital if it is one character, otherwise the lower-case letter. */
function capitalOf(code: number): number {
  const capital = String.fromCharCode(code).toUpperCase();
  return capital.length === 1 ? capital.charCodeAt(0) : code;
}

/** The lower five bits of three characters; they are equal for lower-case letters and capitals. */
const STARTS = 2 ** 15;

/** Possible beginnings of a word; after its second character or a separator, any character may follow. */
function startsOf(word: string): readonly number[] {
  const [first = "", second = "", third = ""] = word.split(" ", 1)[0] ?? "";
  const bits = (char: string): readonly number[] =>
    // Both cases, because their lower bits are equal in ASCII only.
    char === "" ? ANY_BITS : [char, char.toUpperCase()].map((one) => one.charCodeAt(0) & 31);
  const starts = bits(first).flatMap((a) => bits(second).flatMap((b) => bits(third).map((c) => (((a << 5) | b) << 5) | c)));
  return [...new Set(starts)];
}

const ANY_BITS = Array.from({ length: 32 }, (_, value) => value);

/** Whether no letter of the same word is next to `text[from, to)`. */
const standsAlone = (text: string, from: number, to: number): boolean =>
  beginsWord(text, from) && (to === text.length || beginsWord(text, to) || (isCapital(text[to]) && isSmall(text[to + 1])));

/** Whether the character at `at` belongs to another word than the one before it. */
const beginsWord = (text: string, at: number): boolean =>
  !isLetter(text[at - 1]) || !isLetter(text[at]) || (isSmall(text[at - 1]) && isCapital(text[at]));

const isSmall = (char = ""): boolean => char !== char.toUpperCase();
const isCapital = (char = ""): boolean => char !== char.toLowerCase();
const isLetter = (char = ""): boolean => isSmall(char) || isCapital(char);

/** Without accents. */
// linear: pumped
export const bare = (text: string): string => text.normalize("NFKD").replace(/\p{M}+/gu, "");
const folded = (word: string): string => bare(word).toLowerCase();
