import assert from "node:assert/strict";
import { test } from "node:test";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { scanText } from "#rules/detectors/engine/scan-text.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { pick, type Random, seeded, SURROUNDINGS } from "#rules/detectors/testing/forms.ts";

// A random corpus, made in each run: numbers and codes with a detector's form and check digits, near the words that name
// them.
const compiled = compileDetectors(DETECTORS);
const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
/** Some have a fixed beginning and check digits: chance would take too long over these few, which their own hits show. */
const TRIES_MAX = 4000;
const KINDS_MIN = 130;
/** Misses per detector: the number of a security may be nearly all letters, and is then not detected. */
const MISSED_MAX = 2;
/** Most of a number of this kind may be letters. */
const MORE_MISSED: Readonly<Record<string, number>> = { "pii.cnpj_br_alphanumeric": 3 };
const CLASSES: Readonly<Record<string, (random: Random) => string>> = {
  "#": (random) => String(random(10)),
  A: (random) => pick(random, LETTERS),
  "*": (random) => pick(random, [...LETTERS, ..."0123456789"]),
  "~": () => "-",
  _: (random) => pick(random, ["  ", "\t", "\r\n", "</b> <b>"]),
};

const templatesOf = ({ anchors }: Detector): readonly string[] =>
  anchors.flatMap((anchor) => (anchor.kind === "chain" ? anchor.templates : []));

/** Null where chance made none. */
function numberOf(detector: Detector, random: Random): string | null {
  const templates = templatesOf(detector);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const text = Array.from(pick(random, templates), (char) => CLASSES[char]?.(random) ?? char).join("");
    if (detector.accepts(text)) return text;
  }
  return null;
}

test("recall of each number detector on random values, beside its name", (t) => {
  const rows = DETECTORS.filter((detector) => templatesOf(detector).length > 0).map((detector, index) => {
    // A change of one detector does not change the numbers of the others.
    const random = seeded(7 + index);
    const texts = SURROUNDINGS.flatMap((surround) => {
      const number = numberOf(detector, random);
      return number === null ? [] : [surround(number, detector.context?.[0] ?? "number")];
    });
    const missed = texts.filter((text) => scanText(compiled, text).findings.length === 0);
    return { id: detector.id, made: texts.length, missed };
  });
  const shown = rows.filter(({ made }) => made === SURROUNDINGS.length);
  const made = shown.length * SURROUNDINGS.length;
  const missed = shown.reduce((sum, row) => sum + row.missed.length, 0);
  t.diagnostic(`${(100 * (1 - missed / made)).toFixed(1)} % of ${made} numbers of ${shown.length} kinds`);
  assert.ok(shown.length >= KINDS_MIN, `${shown.length} of ${rows.length} kinds`);
  assert.ok(missed <= made * 0.01, `${missed} of ${made}`);
  for (const row of shown)
    assert.ok(row.missed.length <= (MORE_MISSED[row.id] ?? MISSED_MAX), `${row.id}: ${row.missed.slice(0, 3).join(" | ")}`);
});
