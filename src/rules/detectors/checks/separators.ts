/** The kind of a separator of several bytes. */
export type SeparatorKind = "space" | "dash";

/**
 * Separators of several characters in pages, data and addresses: by their spelling in lower case. In Unicode: the
 * no-break space, typographic spaces and dashes (U+2000 to U+200B, U+2010 to U+2015, U+202F), and the minus.
 */
const NAMED: readonly (readonly [SeparatorKind, readonly string[]])[] = [
  ["space", ["&nbsp;", "&ensp;", "&emsp;", "&thinsp;", "%20", "%c2%a0", "%e2%80%af"]],
  ["dash", ["&ndash;", "&mdash;", "&hyphen;", "&dash;", "&minus;", "%2d", "%e2%80%91", "%e2%80%93"]],
];
const SPACES = [0x20, 0xa0, ...range(0x2000, 0x200b), 0x202f];
const DASHES = [0x2d, ...range(0x2010, 0x2015), 0x2212];

/** Entities of HTML by number, and escapes of JSON and scripts. */
const spellings = (code: number): readonly string[] => {
  const hex = code.toString(16);
  return [`&#${code};`, `&#x${hex};`, `\\u${hex.padStart(4, "0")}`];
};

const KINDS: ReadonlyMap<string, SeparatorKind> = new Map([
  ...NAMED.flatMap(([kind, texts]) => texts.map((text) => [text, kind] as const)),
  ...SPACES.flatMap((code) => spellings(code).map((text) => [text, "space"] as const)),
  ...DASHES.flatMap((code) => spellings(code).map((text) => [text, "dash"] as const)),
]);

/** First characters of the spellings. */
export const SPELLED_STARTS = "&%\\";

/** A spelled separator, and its length in bytes. */
export interface SpelledSeparator {
  readonly kind: SeparatorKind;
  readonly width: number;
}

/** A node of the tree of spellings, by bytes in either case. */
interface Step {
  readonly next: (Step | undefined)[];
  found: SpelledSeparator | null;
}

const newStep = (): Step => ({ next: Array.from({ length: 128 }), found: null });

/** The spellings as a tree: a body may be full of their first characters, most of which begin no separator. */
const TREE = newStep();
for (const [text, kind] of KINDS) {
  let step = TREE;
  for (const char of text) {
    const code = char.charCodeAt(0);
    const next = (step.next[code] ??= newStep());
    step.next[char.toUpperCase().charCodeAt(0)] = next;
    step = next;
  }
  step.found = { kind, width: text.length };
}

/** The spelled separator at `at`, where the byte is one of SPELLED_STARTS. */
export function spelledSeparator(bytes: Uint8Array, at: number): SpelledSeparator | null {
  let step: Step | undefined = TREE;
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    // No spelling is the beginning of another.
    step = byte < 128 ? step.next[byte] : undefined;
    if (step === undefined) return null;
    if (step.found !== null) return step.found;
  }
  return null;
}

/** The parts of a gap that have letters. */
const GAP_PATTERN = /<[^<>]*>|\\[nrt]/g;

const SPELLED = [...KINDS.keys()].toSorted((a, b) => b.length - a.length).map((text) => text.replace(/\\/g, "\\\\"));
const SPELLED_PATTERN = new RegExp(SPELLED.join("|"), "gi");

// Dozens of detectors read the same number one after the other.
let lastText = "";
let lastBare = "";

/** A number or code without spelled separators and markup, which contain letters and digits. */
export function withoutSpelled(text: string): string {
  if (text === lastText) return lastBare;
  lastText = text;
  lastBare = /[&%\\<]/.test(text) ? text.replace(SPELLED_PATTERN, "").replace(GAP_PATTERN, "") : text;
  return lastBare;
}

/**
 * Separators between groups of a number, other than a blank, as the alternatives of a pattern over bytes: dash, dot, plus
 * (a space in queries), a no-break space or a typographic space or dash in UTF-8, and the spelled ones.
 */
export const SEPARATOR_BUT_BLANK = String.raw`[.+\-]|\xc2?\xa0|\xe2(?:\x80[\x80-\x8b\x90-\x95\xaf]|\x88\x92)|[&%\\](?:${either(SPELLED)})`;

/** In either case, without their first character. */
function either(spelled: readonly string[]): string {
  return spelled
    .map((text) => text.replace(/^(?:\\\\|.)/, "").replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`))
    .join("|");
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, more) => from + more);
}
