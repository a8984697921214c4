import type { Detector } from "./detector.ts";
import { CODES, COLUMNS, DASH, DIGIT, DOT, TEMPLATE_END, GAP, LETTER, readAnchor, SPACE, TEMPLATE_LENGTH_MAX } from "./chain-templates.ts";
import { gapEnd, GAP_STARTS } from "./gaps.ts";
import { allForms, type NumberForms } from "#rules/detectors/prefilter/number-forms.ts";
import { SPELLED_STARTS, spelledSeparator } from "#rules/detectors/checks/separators.ts";

/** The class of each byte, 0 for bytes that no template has. A no-break space in Latin-1 is a space. */
export const CHAIN_CLASSES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  if (/[0-9]/.test(char)) return DIGIT;
  if (/[A-Za-z]/.test(char)) return LETTER;
  return byte === 0xa0 ? SPACE : (CODES.get(char) ?? 0);
});

/** A position at which the text from the start of a chain matches a template. */
export interface ChainEnd {
  readonly end: number;
  readonly detectors: readonly Detector[];
}

/**
 * The templates of numbers and codes as one automaton, so that a text is read once for all of them. In a template, `#` is
 * a digit, `A` a letter, `*` either, `~` a space, a dash or a dot, the same at each of its places, and `_` a wide gap; `
 * `, `-`, `.`, `/`, `(` and `)` stand for themselves.
 */
export class Chains {
  /** Next state by state and class; 0 if no template continues. */
  readonly #next: Uint16Array;
  /** The number of the list of the detectors whose templates end in each state; 0 for none. */
  readonly #ends: Uint16Array;
  readonly #lists: readonly (readonly Detector[])[];
  /** Forms of the numbers in the templates. */
  readonly forms: NumberForms;

  constructor(detectors: readonly Detector[]) {
    const automaton = new Automaton();
    const ends = new Uint16Array(STATES_MAX);
    const lists: (readonly Detector[])[] = [[]];
    const forms: NumberForms[] = [];
    for (const detector of detectors) {
      // Thousands of states have the same detectors: the number of each list with this detector behind it.
      const longer = new Map<number, number>();
      for (const anchor of detector.anchors) {
        if (anchor.kind !== "chain") continue;
        const read = readAnchor(anchor);
        forms.push(read.forms);
        automaton.add(read.paths, (state) => {
          const before = ends[state] as number;
          let after = longer.get(before);
          if (after === undefined) {
            const list = lists[before] ?? [];
            after = list.at(-1) === detector ? before : lists.push([...list, detector]) - 1;
            longer.set(before, after);
          }
          ends[state] = after;
        });
      }
    }
    this.#next = automaton.next;
    this.#ends = ends.slice(0, automaton.count);
    this.#lists = lists;
    this.forms = allForms(forms);
  }

  /** Finds the ends of templates that start at `at`, the shortest first; fills `found` and returns the count. */
  read(bytes: Uint8Array, at: number, found: ChainEnd[]): number {
    let count = 0;
    let state = 0;
    for (let i = at; ;) {
      const byte = bytes[i] ?? 0;
      const list = this.#ends[state] as number;
      if (list !== 0 && count < ENDS_MAX && isEnd(bytes, i)) found[count++] = { end: i, detectors: this.#lists[list] ?? [] };
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
      let column = CHAIN_CLASSES[byte] as number;
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
const MAY_BE_GAP = Uint8Array.from({ length: 256 }, (_, byte) => (GAP_STARTS.includes(String.fromCharCode(byte)) ? 1 : 0));

/** A state is a number of 16 bits. */
const STATES_MAX = 2 ** 16;
const STATES_AT_FIRST = 1024;

/** The states under construction. */
class Automaton {
  #next = new Uint16Array(STATES_AT_FIRST * COLUMNS);
  #count = 1;
  /** The states on the way to that of the last template, by their depth. */
  readonly #path = new Uint16Array(TEMPLATE_LENGTH_MAX + 1);

  get count(): number {
    return this.#count;
  }

  /** Next state by state and class. */
  get next(): Uint16Array {
    return this.#next.slice(0, this.#count * COLUMNS);
  }

  /** Adds templates; `onEnd` gets the state in which each ends. */
  add(paths: Uint8Array, onEnd: (state: number) => void): void {
    for (let at = 0; at < paths.length; at++) {
      let depth = paths[at++] as number;
      let state = this.#path[depth] as number;
      for (let column = paths[at] as number; column !== TEMPLATE_END; column = paths[++at] as number) {
        const place = state * COLUMNS + column;
        state = this.#next[place] as number;
        if (state === 0) {
          // A separate statement, because it may replace the array.
          state = this.#made();
          this.#next[place] = state;
        }
        this.#path[++depth] = state;
      }
      onEnd(state);
    }
  }

  #made(): number {
    if (this.#count === STATES_MAX) throw new Error(`the templates make more than ${STATES_MAX} states`);
    const at = this.#count++;
    if (this.#count * COLUMNS > this.#next.length) {
      const larger = new Uint16Array(this.#next.length * 2);
      larger.set(this.#next);
      this.#next = larger;
    }
    return at;
  }
}

/** Whether the number ends here: no word character, and no `.5` or `-5`, may follow. */
function isEnd(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at] ?? 0;
  const column = CHAIN_CLASSES[byte] as number;
  if (column === DIGIT || column === LETTER || byte === UNDERSCORE) return false;
  return (column !== DASH && column !== DOT) || CHAIN_CLASSES[bytes[at + 1] ?? 0] !== DIGIT;
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
/** First bytes of separators of several bytes. */
const MAY_SEPARATE = Uint8Array.from({ length: 256 }, (_, byte) =>
  `\xc2\xe2+${SPELLED_STARTS}`.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** A space or dash of several bytes, in UTF-8 or spelled: no-break and typographic ones. */
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
