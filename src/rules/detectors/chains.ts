import type { Detector } from "./detector.ts";
import { gapEnd, GAP_STARTS } from "./gaps.ts";
import { formsOf, type NumberForms } from "./number-forms.ts";
import { SPELLED_STARTS, spelledSeparator } from "./separators.ts";

/** What a byte is within a number or code: the columns of the automaton. */
export const DIGIT = 1;
export const LETTER = 2;
const SPACE = 3;
const DASH = 4;
const DOT = 5;
const SLASH = 6;
const PAREN = 7;
const CLOSING = 8;
/** A wide gap (gaps.ts). */
const GAP = 9;
const COLUMNS = 10;

const CODES: ReadonlyMap<string, number> = new Map([
  [" ", SPACE],
  ["-", DASH],
  [".", DOT],
  ["/", SLASH],
  ["(", PAREN],
  [")", CLOSING],
]);

/** The class of each byte, 0 for those that no template has. A no-break space in Latin-1 is a space. */
export const CLASSES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  if (/[0-9]/.test(char)) return DIGIT;
  if (/[A-Za-z]/.test(char)) return LETTER;
  return byte === 0xa0 ? SPACE : (CODES.get(char) ?? 0);
});

/** A place where the text from the start of a chain is as a template says. */
export interface ChainEnd {
  readonly end: number;
  readonly detectors: readonly Detector[];
}

/**
 * The templates of numbers and codes as one automaton, so that a text is read once for all of them. In a template `#` is
 * a digit, `A` a letter, `*` either, and `~` a space, a dash or a dot, the same at each of its places, and `_` a wide gap; ` `, `-`, `.`, `/`,
 * `(` and `)` stand for themselves.
 */
export class Chains {
  /** Next state by state and class; 0 where no template goes on. */
  readonly #next: Uint16Array;
  readonly #detectors: readonly (readonly Detector[] | undefined)[];
  /** Of what the templates say. */
  readonly forms: NumberForms;

  constructor(detectors: readonly Detector[]) {
    const states: number[][] = [emptyState()];
    const ends: (Detector[] | undefined)[] = [undefined];
    const templates: string[] = [];
    const stuck: string[] = [];
    for (const detector of detectors) {
      for (const anchor of detector.anchors) {
        if (anchor.kind !== "chain") continue;
        // Without a digit there is no place to begin at.
        for (const template of anchor.templates.flatMap(expanded).filter((one) => one.includes("#"))) {
          templates.push(template);
          if (anchor.stuck === true) stuck.push(template);
          const state = addPath(states, ends, template);
          const known = (ends[state] ??= []);
          if (!known.includes(detector)) known.push(detector);
        }
      }
    }
    if (states.length > STATES_MAX) throw new Error(`the templates make ${states.length} states`);
    this.#next = Uint16Array.from(states.flat());
    this.#detectors = ends;
    this.forms = formsOf(templates, stuck);
  }

  /** Where a template ends that starts at `at`, the shortest first; `found` is filled and its count returned. */
  read(bytes: Uint8Array, at: number, found: ChainEnd[]): number {
    let count = 0;
    let state = 0;
    for (let i = at; ;) {
      const byte = bytes[i] ?? 0;
      const detectors = this.#detectors[state];
      if (detectors !== undefined && count < ENDS_MAX && isEnd(bytes, i)) found[count++] = { end: i, detectors };
      const afterGap = this.#next[state * COLUMNS + GAP] as number;
      if (afterGap !== 0 && MAY_BE_GAP[byte] === 1) {
        const to = gapEnd(bytes, i);
        if (to > i) {
          state = afterGap;
          i = to;
          continue;
        }
      }
      let width = 1;
      let column = CLASSES[byte] as number;
      if (column === 0) {
        if (MAY_SEPARATE[byte] === 0) return count;
        const wide = wideSeparator(bytes, i);
        if (wide === null) return count;
        ({ width, column } = wide);
      }
      state = this.#next[state * COLUMNS + column] as number;
      if (state === 0) return count;
      i += width;
    }
  }
}

const ENDS_MAX = 8;
/** A state is a number of 16 bits. */
const STATES_MAX = 2 ** 16;
const MAY_BE_GAP = Uint8Array.from({ length: 256 }, (_, byte) => (GAP_STARTS.includes(String.fromCharCode(byte)) ? 1 : 0));

const emptyState = (): number[] => Array.from({ length: COLUMNS }, () => 0);

function addPath(states: number[][], ends: unknown[], template: string): number {
  let state = 0;
  for (const char of template) {
    const column = char === "#" ? DIGIT : char === "A" ? LETTER : char === "_" ? GAP : CODES.get(char);
    if (column === undefined) throw new Error(`the template "${template}" holds "${char}"`);
    const from = states[state] as number[];
    if (from[column] === 0) {
      from[column] = states.length;
      states.push(emptyState());
      ends.push(undefined);
    }
    state = from[column] as number;
  }
  return state;
}

/** The template once for each meaning of `~` and `*`. */
function expanded(template: string): readonly string[] {
  if (template.includes("~")) return [" ", "-", "."].flatMap((separator) => expanded(template.replaceAll("~", separator)));
  if (template.includes("*")) return ["#", "A"].flatMap((one) => expanded(template.replace("*", one)));
  return [template];
}

/** Nothing may follow that would make it a part of something longer: no word character, no further `.5` or `-5`. */
function isEnd(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at] ?? 0;
  const column = CLASSES[byte] as number;
  if (column === DIGIT || column === LETTER || byte === UNDERSCORE) return false;
  return (column !== DASH && column !== DOT) || CLASSES[bytes[at + 1] ?? 0] !== DIGIT;
}

const UNDERSCORE = 0x5f;

interface WideSeparator {
  readonly width: number;
  readonly column: number;
}

const NBSP: WideSeparator = { width: 2, column: SPACE };
const WIDE_SPACE: WideSeparator = { width: 3, column: SPACE };
const WIDE_DASH: WideSeparator = { width: 3, column: DASH };
/** In queries. */
const PLUS: WideSeparator = { width: 1, column: SPACE };
/** What they begin with. */
const MAY_SEPARATE = Uint8Array.from({ length: 256 }, (_, byte) =>
  `\xc2\xe2+${SPELLED_STARTS}`.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** A space or dash of several bytes, in UTF-8 or spelled out: those that may not break, and those of typesetters. */
function wideSeparator(bytes: Uint8Array, at: number): WideSeparator | null {
  const byte = bytes[at];
  if (byte === 0xc2) return bytes[at + 1] === 0xa0 ? NBSP : null;
  if (byte === 0xe2) return generalPunctuation(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0);
  if (byte === 0x2b) return PLUS;
  const spelled = spelledSeparator(bytes, at);
  return spelled === null ? null : { width: spelled.width, column: spelled.kind === "space" ? SPACE : DASH };
}

/** The last two bytes of U+2000 to U+203F, and of the minus. */
function generalPunctuation(second: number, third: number): WideSeparator | null {
  if (second === 0x88) return third === 0x92 ? WIDE_DASH : null;
  if (second !== 0x80) return null;
  if ((third >= 0x80 && third <= 0x8b) || third === 0xaf) return WIDE_SPACE;
  return third >= 0x90 && third <= 0x95 ? WIDE_DASH : null;
}
