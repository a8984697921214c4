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
  const from = Math.max(0, at - NEAR_BYTES);
  bytes.copy(gathered, 0, from, at);
  let length = at - from;
  // A value in quotes may be an attribute's, whose tag begins further left.
  if (isQuote(bytes[at - 1]) || hasMarkup(bytes, from, at)) length = gatherVisible(bytes, at, length);
  return withoutAccents(length);
}

/** The text that is being put together, in bytes. */
const gathered = Buffer.alloc(NEAR_BYTES * 2 + LABEL_BYTES + 2);
/** What a reader of the page sees, and then the tag that it ends in. */
const visible = Buffer.alloc(LABEL_BYTES);

function gatherVisible(bytes: Buffer, at: number, length: number): number {
  const shown = showVisible(bytes, Math.max(0, at - LABEL_BYTES), at);
  const open = visible.subarray(0, shown).lastIndexOf(LESS);
  const textEnd = open < 0 ? shown : open;
  let end = length;
  gathered[end++] = LINE_FEED;
  end += visible.copy(gathered, end, Math.max(0, textEnd - NEAR_BYTES), textEnd);
  gathered[end++] = LINE_FEED;
  return end + visible.copy(gathered, end, textEnd, shown);
}

/** Puts one space for tags and spaces that stand together; a tag that begins further left is left out. Gives the length. */
function showVisible(bytes: Buffer, from: number, to: number): number {
  const first = markupFrom(bytes, from, to);
  let length = 0;
  let isGap = false;
  for (let i = bytes[first] === GREATER && first < to ? first + 1 : from; i < to; i++) {
    const byte = bytes[i] as number;
    const tagEnd = byte === LESS ? markupFrom(bytes, i + 1, to) : to;
    const isTag = tagEnd < to && bytes[tagEnd] === GREATER;
    if (isTag) i = tagEnd;
    else if (IS_SPACE[byte] === 0) {
      visible[length++] = byte;
      isGap = false;
      continue;
    }
    if (!isGap) visible[length++] = SPACE;
    isGap = true;
  }
  return length;
}

const hasMarkup = (bytes: Buffer, from: number, to: number): boolean => markupFrom(bytes, from, to) < to;

/** Where the first `<` or `>` stands; `to` where there is none. */
function markupFrom(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] !== LESS && bytes[at] !== GREATER) at++;
  return at;
}

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const LESS = 0x3c;
const GREATER = 0x3e;
const isQuote = (byte: number | undefined): boolean => byte === 0x22 || byte === 0x27;
/** Of bytes as characters. */
const IS_SPACE = Uint8Array.from({ length: 256 }, (_, byte) => (/\s/.test(String.fromCharCode(byte)) ? 1 : 0));

/** The gathered bytes, which are a text in UTF-8 where any is beyond ASCII. */
function withoutAccents(length: number): string {
  for (let i = 0; i < length; i++) if ((gathered[i] as number) >= 0x80) return bare(gathered.toString("utf8", 0, length));
  return gathered.toString("latin1", 0, length);
}

const bare = (text: string): string => text.normalize("NFKD").replace(/\p{M}+/gu, "");
const folded = (word: string): string => bare(word).toLowerCase();
