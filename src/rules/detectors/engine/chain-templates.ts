import { formsOf, type NumberForms } from "#rules/detectors/prefilter/number-forms.ts";
import type { Anchor } from "./detector.ts";

/** Classes of bytes within a number or code: the columns of the automaton. */
export const DIGIT = 1;
export const LETTER = 2;
export const SPACE = 3;
export const DASH = 4;
export const DOT = 5;
const SLASH = 6;
const PAREN = 7;
const CLOSING = 8;
/** A wide gap (gaps.ts). */
export const GAP = 9;
export const COLUMNS = 10;

export const CODES: ReadonlyMap<string, number> = new Map([
  [" ", SPACE],
  ["-", DASH],
  [".", DOT],
  ["/", SLASH],
  ["(", PAREN],
  [")", CLOSING],
]);

const TEMPLATE_LETTERS: ReadonlyMap<string, number> = new Map([
  ["#", DIGIT],
  ["A", LETTER],
  ["_", GAP],
]);

type ChainAnchor = Anchor & { readonly kind: "chain" };

interface ReadAnchor {
  /**
   * The templates in alphabetical order: of each the number of characters that it shares with the one before it, the columns of the
   * others, and TEMPLATE_END.
   */
  readonly paths: Uint8Array;
  /** Forms of the numbers in the templates. */
  readonly forms: NumberForms;
}

export const TEMPLATE_END = 0;
export const TEMPLATE_LENGTH_MAX = 255;
/** Anchors of our own detectors have up to 19,000 templates, and are compiled again for each policy with patterns of an account. */
const readAnchors = new WeakMap<ChainAnchor, ReadAnchor>();

/** Reads the templates of each anchor once. */
export function readAnchor(anchor: ChainAnchor): ReadAnchor {
  const before = readAnchors.get(anchor);
  if (before !== undefined) return before;
  // Without a digit, a template has no position to begin at.
  const templates = anchor.templates.flatMap(expanded).filter((template) => template.includes("#"));
  const read = { paths: pathsOf(templates.sort()), forms: formsOf(templates, anchor.stuck === true) };
  readAnchors.set(anchor, read);
  return read;
}

function pathsOf(templates: readonly string[]): Uint8Array {
  const paths = new Uint8Array(templates.reduce((sum, { length }) => sum + length + 2, 0));
  let at = 0;
  let last = "";
  for (const template of templates) {
    if (template.length > TEMPLATE_LENGTH_MAX) throw new Error(`the template "${template}" is too long`);
    let shared = 0;
    while (shared < last.length && template[shared] === last[shared]) shared++;
    paths[at++] = shared;
    for (let i = shared; i < template.length; i++) {
      const column = COLUMN_OF[template.charCodeAt(i)] ?? 0;
      if (column === 0) throw new Error(`the template "${template}" holds "${template[i]}"`);
      paths[at++] = column;
    }
    paths[at++] = TEMPLATE_END;
    last = template;
  }
  return paths.slice(0, at);
}

/** Column of each character of a template; 0 for others. */
const COLUMN_OF = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return TEMPLATE_LETTERS.get(char) ?? CODES.get(char) ?? 0;
});

/** The template once for each meaning of `~` and `*`. */
function expanded(template: string): readonly string[] {
  if (template.includes("~")) return [" ", "-", "."].flatMap((separator) => expanded(template.replaceAll("~", separator)));
  if (template.includes("*")) return ["#", "A"].flatMap((one) => expanded(template.replace("*", one)));
  return [template];
}
