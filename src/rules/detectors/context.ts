/** A word as short as this counts only by itself: `sin` is a part of `using`. */
const SHORT_CHARACTERS_MAX = 3;

/** Bytes before a match that are read as they stand. */
const NEAR_BYTES = 64;
/** Bytes before a match in which its label may stand where there is markup between the two. */
export const LABEL_BYTES = 320;

/** Tells which of many things a text names. */
export interface NamedIndex<Thing> {
  /** `before` is what `textBefore` gives. */
  in(before: string): ReadonlySet<Thing>;
}

interface Entry<Thing> {
  readonly pattern: RegExp;
  readonly isShort: boolean;
  readonly things: readonly Thing[];
}

/**
 * Finds the words of all detectors in one pass: dozens of them may ask what stands before the same number. Words hold for small
 * letters and capitals, with and without accents. Those of up to three letters must not have letters of the same word beside them,
 * as in `nhs-no` and `nhsNumber`; longer ones may be a part of a key such as `customerpassportno`.
 */
export function namedIndex<Thing>(words: Iterable<readonly [thing: Thing, words: readonly string[]]>): NamedIndex<Thing> {
  const things = new Map<string, Thing[]>();
  for (const [thing, own] of words) for (const word of own.map(folded)) things.set(word, [...(things.get(word) ?? []), thing]);
  const byStart = new Map<number, Entry<Thing>[]>();
  for (const [word, named] of things) {
    const entry = { pattern: new RegExp(sourceOf(word), "iy"), isShort: word.length <= SHORT_CHARACTERS_MAX, things: named };
    for (const start of startsOf(word)) byStart.set(start, [...(byStart.get(start) ?? []), entry]);
  }
  const isStart = new Uint8Array(STARTS);
  for (const start of byStart.keys()) isStart[start] = 1;
  return {
    in: (before) => {
      const found = new Set<Thing>();
      let start = 0;
      // Where the third character of a word may stand, which shorter ones have not.
      for (let at = 0; at < before.length + 2; at++) {
        start = ((start << 5) | (before.charCodeAt(at) & 31)) & (STARTS - 1);
        if (isStart[start] === 0 || at < 2) continue;
        for (const { pattern, isShort, things: named } of byStart.get(start) ?? []) {
          pattern.lastIndex = at - 2;
          if (!pattern.test(before) || (isShort && !standsAlone(before, at - 2, pattern.lastIndex))) continue;
          for (const thing of named) found.add(thing);
        }
      }
      return found;
    },
  };
}

/** The lower five bits of three characters, which are the same for small letters and capitals. */
const STARTS = 2 ** 15;

/** What a word may begin with; after its second character or a separator anything may come. */
function startsOf(word: string): readonly number[] {
  const [first = "", second = "", third = ""] = word.split(" ", 1)[0] ?? "";
  const bits = (char: string): readonly number[] =>
    // Both letters of a pair, whose bits are the same in ASCII only.
    char === "" ? ANY_BITS : [char, char.toUpperCase()].map((one) => one.charCodeAt(0) & 31);
  const starts = bits(first).flatMap((a) => bits(second).flatMap((b) => bits(third).map((c) => (((a << 5) | b) << 5) | c)));
  return [...new Set(starts)];
}

const ANY_BITS = Array.from({ length: 32 }, (_, value) => value);

const sourceOf = (word: string): string => word.replace(/[^a-z0-9\u0080-\uffff]/g, (char) => (char === " " ? "[ _.-]{0,2}" : `\\${char}`));

/** Whether no letter of the same word stands beside `text[from, to)`. */
const standsAlone = (text: string, from: number, to: number): boolean =>
  beginsWord(text, from) && (to === text.length || beginsWord(text, to) || (isCapital(text[to]) && isSmall(text[to + 1])));

/** Whether what stands at `at` belongs to another word than what stands before it. */
const beginsWord = (text: string, at: number): boolean =>
  !isLetter(text[at - 1]) || !isLetter(text[at]) || (isSmall(text[at - 1]) && isCapital(text[at]));

const isSmall = (char = ""): boolean => char !== char.toUpperCase();
const isCapital = (char = ""): boolean => char !== char.toLowerCase();
const isLetter = (char = ""): boolean => isSmall(char) || isCapital(char);

/**
 * What stands before `at`, to look for words in: its last bytes, and where markup stands there, what a reader sees before it, with
 * the tag that `at` may be in. Without accents.
 */
export function textBefore(bytes: Buffer, at: number): string {
  const near = bytes.toString("latin1", Math.max(0, at - NEAR_BYTES), at);
  // A value in quotes may be an attribute's, whose tag begins further left.
  if (!/[<>]|["']$/.test(near)) return withoutAccents(near);
  const [visible, tag] = withoutMarkup(bytes.toString("latin1", Math.max(0, at - LABEL_BYTES), at));
  return withoutAccents(`${near}\n${visible.slice(-NEAR_BYTES)}\n${tag}`);
}

/** What a reader of the page sees, and the tag that the text ends in. A tag that begins further left is left out. */
function withoutMarkup(text: string): readonly [visible: string, tag: string] {
  const cut = /^[^<>]*>/.exec(text)?.[0].length ?? 0;
  const visible = text.slice(cut).replace(/(?:<[^<>]*>|\s)+/g, " ");
  const open = visible.lastIndexOf("<");
  return open < 0 ? [visible, ""] : [visible.slice(0, open), visible.slice(open)];
}

/** Of bytes as characters, which are those of a text in UTF-8 where any is beyond ASCII. */
const withoutAccents = (bytes: string): string => (isAscii(bytes) ? bytes : bare(Buffer.from(bytes, "latin1").toString("utf8")));

const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);

const bare = (text: string): string => text.normalize("NFKD").replace(/\p{M}+/gu, "");
const folded = (word: string): string => bare(word).toLowerCase();
