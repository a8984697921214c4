/**
 * The digits among the sixteen bytes from a number's first digit on, as a mask whose lowest bit is the first byte: the
 * possible masks of our numbers, as sets of bits. A text has many digits, few of which have the positions of such a
 * number.
 */
export interface NumberForms {
  /** After a character that is not a letter. */
  readonly alone: MaskSet;
  /** After a lower-case letter. */
  readonly afterSmall: MaskSet;
  /** After a capital. */
  readonly afterCapital: MaskSet;
  /** Least number of digits if separators may take several bytes: entities, and characters beyond ASCII. */
  readonly spacedDigitsMin: number;
  /** Whether none of them has a byte of BREAKS (numbers.ts). */
  readonly areCut: boolean;
  /** Whether none of them has points and blanks. */
  readonly areApart: boolean;
}

/** A bit for each mask. */
export type MaskSet = Uint8Array;

export const FORM_BYTES = 16;
export const MASK_SET_BYTES = 2 ** FORM_BYTES / 8;
const NO_SPACED = FORM_BYTES + 1;

export const noForms = (): NumberForms => ({
  alone: noMasks(),
  afterSmall: noMasks(),
  afterCapital: noMasks(),
  spacedDigitsMin: NO_SPACED,
  areCut: true,
  areApart: true,
});

const noMasks = (): MaskSet => new Uint8Array(MASK_SET_BYTES);

export function allForms(forms: readonly NumberForms[]): NumberForms {
  const all = noForms();
  for (const { alone, afterSmall, afterCapital } of forms) {
    addSet(all.alone, alone);
    addSet(all.afterSmall, afterSmall);
    addSet(all.afterCapital, afterCapital);
  }
  return {
    ...all,
    spacedDigitsMin: Math.min(NO_SPACED, ...forms.map(({ spacedDigitsMin }) => spacedDigitsMin)),
    areCut: forms.every(({ areCut }) => areCut),
    areApart: forms.every(({ areApart }) => areApart),
  };
}

function addSet(masks: MaskSet, more: MaskSet): void {
  const [words, others] = [new Uint32Array(masks.buffer), new Uint32Array(more.buffer)];
  for (let i = 0; i < words.length; i++) words[i] = (words[i] as number) | (others[i] as number);
}

/** Forms of templates (chains.ts) without `*`; stuck ones may follow a letter that does not belong to them. */
export function formsOf(templates: readonly string[], areStuck: boolean): NumberForms {
  const forms = noForms();
  let spacedDigitsMin = NO_SPACED;
  const known = new Set<string>();
  for (const template of templates) {
    const first = template.indexOf("#");
    const rest = template.slice(first);
    const afterLetter = template[first - 1] === "A";
    if (/[ -]/.test(rest)) spacedDigitsMin = Math.min(spacedDigitsMin, digitsOfSpaced(rest));
    const key = `${afterLetter} ${rest.replaceAll(/[^#_]/g, ".")}`;
    if (known.has(key)) continue;
    known.add(key);
    addTemplate(afterLetter ? forms.afterSmall : forms.alone, rest);
  }
  if (areStuck) for (const template of templates) addTemplate(forms.afterSmall, template);
  return {
    ...forms,
    afterCapital: forms.afterSmall,
    spacedDigitsMin,
    areCut: true,
    areApart: !templates.some((template) => template.includes(".") && /[ _]/.test(template)),
  };
}

/** The set of the masks that satisfy the condition. */
export function masksWhere(holds: (mask: number) => boolean): MaskSet {
  const masks = noMasks();
  for (let mask = 0; mask < 2 ** FORM_BYTES; mask++) if (holds(mask)) add(masks, mask);
  return masks;
}

/** No digit follows a number (chains.ts), and the bytes after that may be anything. */
function addTemplate(masks: MaskSet, template: string): void {
  const [beforeGap = "", behindGap] = template.split("_");
  if (behindGap !== undefined) addGaps(masks, beforeGap, behindGap);
  let mask = 0;
  for (let i = 0; i < Math.min(FORM_BYTES, template.length); i++) if (template[i] === "#") mask |= 1 << i;
  const freeFrom = template.length + 1;
  if (freeFrom >= FORM_BYTES) add(masks, mask);
  else for (let free = 0; free < 2 ** (FORM_BYTES - freeFrom); free++) add(masks, mask | (free << freeFrom));
}

/** With gaps of at least two bytes before the second group, which the window may cut. */
function addGaps(masks: MaskSet, first: string, second: string): void {
  for (let gap = 2; first.length + gap <= FORM_BYTES; gap++) {
    const text = `${first}${".".repeat(gap)}${second}`;
    let mask = 0;
    for (let i = 0; i < Math.min(FORM_BYTES, text.length); i++) if (text[i] === "#") mask |= 1 << i;
    // After the second group, another gap may follow.
    const freeFrom = Math.min(FORM_BYTES, text.length + 1);
    for (let free = 0; free < 2 ** (FORM_BYTES - freeFrom); free++) add(masks, mask | (free << freeFrom));
  }
}

function add(masks: MaskSet, mask: number): void {
  masks[mask >> 3] = (masks[mask >> 3] as number) | (1 << (mask & 7));
}

/** Wider separators have digits, except for named dashes: before those, numbers of shorter groups are missed. */
const WIDTHS: Readonly<Record<string, number>> = { " ": "&nbsp;".length, "-": 3 };

/** Digits among the first bytes, with the widest separators. */
function digitsOfSpaced(template: string): number {
  let bytes = 0;
  let digits = 0;
  for (const char of template) {
    bytes += WIDTHS[char] ?? 1;
    if (bytes > FORM_BYTES) break;
    if (char === "#") digits++;
  }
  return digits;
}
