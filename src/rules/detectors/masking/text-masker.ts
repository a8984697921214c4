import { compileDetectors, type CompiledDetectors } from "#rules/detectors/engine/compiled.ts";
import { LABEL_BYTES } from "#rules/detectors/engine/context.ts";
import { FINDABLE_CHARS_MIN } from "#rules/detectors/engine/findable.ts";
import { BodyScanner, scanBuffer } from "#rules/detectors/engine/scan.ts";
import { MASK } from "./mask.ts";
import { plainForms } from "./plain-forms.ts";
import { DETECTORS, UNDOUBTED_DETECTORS } from "#rules/detectors/catalog/table.ts";

/**
 * Masks the finds of detectors in texts, plain or encoded (plain-forms.ts). In a text of parts between `separator`s, only
 * the parts with a find are masked; a name and `=` before a find stay.
 */
export type TextMasker = (texts: readonly string[], separator: string) => readonly string[];

/** Texts are scanned together up to this many bytes, because most of the cost of a short one is the start of a scan. */
const TOGETHER_BYTES = 48 * 1024;
/** Of one text. A text with more could block the thread, and is masked whole. */
const CANDIDATES_MAX = 1024;
/** Wide enough that a word of one text is not context for the next one. */
const GAP = "\n".repeat(LABEL_BYTES);

/** With the detectors that are on by default. */
export const createTextMasker = (): TextMasker =>
  textMaskerOf(compileDetectors(DETECTORS.filter(({ enabled }) => enabled)), FINDABLE_CHARS_MIN);

/** With the filters that leave no doubt, and only for such findings. */
export const createUndoubtedMasker = (): TextMasker => textMaskerOf(compileDetectors(UNDOUBTED_DETECTORS), FINDABLE_CHARS_MIN);

/** `charsMin`: these detectors find nothing in shorter texts. */
export function textMaskerOf(detectors: CompiledDetectors, charsMin = 1): TextMasker {
  const finds = (text: string): boolean => {
    const { findings, limited } = scan(text, detectors);
    return limited || findings.length > 0;
  };
  const isHot = (text: string): boolean => finds(text) || plainForms(text).some(finds);
  return (texts, separator) => {
    const hot = suspects(texts, detectors, charsMin);
    if (hot.size === 0) return texts;
    return texts.map((text, index) => (hot.has(index) ? masked(text, separator, isHot) : text));
  };
}

/** Shared by all maskers of a thread: each uses it only during a call. */
let buffer: Buffer | undefined;

const scan = (text: string, detectors: CompiledDetectors, onHit?: (from: number) => void) => {
  buffer ??= scanBuffer(TOGETHER_BYTES);
  const scanner = new BodyScanner(detectors, { buffer, candidatesMax: CANDIDATES_MAX, ...(onHit && { onHit }) });
  scanner.push(Buffer.from(text, "latin1"));
  return scanner.end();
};

/** Indexes of texts that may have a find. */
function suspects(texts: readonly string[], detectors: CompiledDetectors, charsMin: number): ReadonlySet<number> {
  const found = new Set<number>();
  let joined = "";
  let [starts, indexes]: [number[], number[]] = [[], []];
  const look = (): void => {
    const { limited } = scan(joined, detectors, (from) => found.add(indexes[lastAtMost(starts, from)] ?? 0));
    // It is unknown which of them has the most candidates, so each is scanned separately.
    if (limited) for (const index of indexes) found.add(index);
    joined = "";
    [starts, indexes] = [[], []];
  };
  const add = (text: string, index: number): void => {
    if (text.length < charsMin) return;
    if (joined.length > 0 && joined.length + text.length > TOGETHER_BYTES) look();
    starts.push(joined.length);
    indexes.push(index);
    joined += text + GAP;
  };
  for (const [index, text] of texts.entries()) {
    add(text, index);
    for (const form of plainForms(text)) add(form, index);
  }
  look();
  return found;
}

/** Index of the last number that is at most `most`, in ascending numbers. */
function lastAtMost(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) <= most) low = middle;
    else high = middle;
  }
  return low;
}

function masked(text: string, separator: string, isHot: (text: string) => boolean): string {
  if (!isHot(text)) return text;
  if (separator === "") return MASK;
  const parts = text.split(separator).map((part) => (isHot(part) ? maskedPart(part, isHot) : part));
  const shown = parts.join(separator);
  // A find may extend over separators.
  return isHot(shown) ? MASK : shown;
}

function maskedPart(part: string, isHot: (text: string) => boolean): string {
  const name = part.slice(0, part.indexOf("=") + 1);
  return isHot(name) ? MASK : name + MASK;
}
