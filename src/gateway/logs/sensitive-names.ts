import { chooseGrams, GRAM_BYTES } from "#rules/detectors/prefilter/gram-groups.ts";
import { noForms } from "#rules/detectors/prefilter/number-forms.ts";
import { INPUT_BYTES } from "#rules/detectors/prefilter/layout.ts";
import { createPrefilter, GRAM_GROUPS, type Gram } from "#rules/detectors/prefilter/prefilter.ts";

/** Names of secrets, with common parts written once. */
export const SECRET_WORDS =
  /(?:api|access|private)[_-]?key|secret|passw(?:or)?d|passphrase|(?:access|auth|refresh|id|session)[_-]?token|authorization|credential|bearer\s|private key-----/i;

/** Four characters of each name that are rare in other text. */
const MARKS = [
  ...["pik", "ssk", "tek", "sst", "tht", "sht", "idt"].flatMap(([first = "", second = "", third = ""]) => [
    `${first}${second}_${third}`,
    `${first}${second}-${third}`,
    first + second + third + (third === "k" ? "e" : "o"),
  ]),
  ...["cret", "assw", "assp", "sess", "riza", "rede", "arer", "ey--"],
];
const MARK_BYTES = 4;

/** Bytes that are searched at once; their last bytes may be the beginning of a mark. */
const PART_BYTES = INPUT_BYTES;

/**
 * Tests whether a text has one of the words. Most texts have none, and a vectorized filter rejects them, sixteen bytes at
 * a time.
 */
export function createSensitiveNames(): (bytes: Buffer) => boolean {
  const prefilter = createPrefilter({ grams: gramsOf(MARKS), signs: [], forms: noForms() });
  const mayHave = (bytes: Buffer): boolean => {
    for (let from = 0; from < bytes.length; from += PART_BYTES - MARK_BYTES) {
      const length = bytes.copy(prefilter.input, 0, from, from + PART_BYTES);
      const count = prefilter.run(0, length, length);
      // The filter also returns long words of letters and digits, as possible numbers.
      for (let i = 0; i < count; i++) if (((prefilter.found[i] as number) & 1) === 1) return true;
    }
    return false;
  };
  return (bytes) => mayHave(bytes) && SECRET_WORDS.test(bytes.toString("latin1"));
}

function gramsOf(marks: readonly string[]): readonly Gram[] {
  const choices = chooseGrams(
    marks.map((mark) => Buffer.from(mark).subarray(0, GRAM_BYTES)),
    GRAM_GROUPS,
  );
  return marks.flatMap((mark, i) =>
    casesOf(mark).map((text) => {
      const bytes = Buffer.from(text);
      return { bytes: bytes.subarray(0, GRAM_BYTES), following: bytes[GRAM_BYTES], group: choices[i]?.group ?? 0 };
    }),
  );
}

/** The text with each of its letters in either case. */
const casesOf = (text: string): readonly string[] =>
  Array.from(text).reduce<readonly string[]>(
    (all, character) => {
      const cases = new Set([character.toLowerCase(), character.toUpperCase()]);
      return all.flatMap((before) => Array.from(cases, (one) => before + one));
    },
    [""],
  );
