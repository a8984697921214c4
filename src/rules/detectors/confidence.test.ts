import assert from "node:assert/strict";
import { test } from "node:test";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { confidences } from "#rules/detectors/engine/proximity.ts";
import { scanText } from "#rules/detectors/engine/scan-text.ts";
import { pick, type Random, seeded } from "#rules/detectors/testing/forms.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";

const compiled = compileDetectors(DETECTORS);
const ROUNDS = 2000;
/** Share of random texts of a detector's form that it may accept: above one in twenty, a match proves nothing. */
const TAKEN_MAX = 0.05;

const DIGITS = [..."0123456789"];
const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const CHARS: Readonly<Record<string, readonly string[]>> = { "#": DIGITS, A: LETTERS, "*": [...DIGITS, ...LETTERS] };

/** With letters in capitals, and each choice of a template made. */
function filled(template: string, random: Random): string {
  return template.replace(/[#A*~_]/g, (char) => {
    const chars = CHARS[char];
    return chars === undefined ? "-" : pick(random, chars);
  });
}

test("a format without a check digit has high confidence only beside its name", () => {
  const random = seeded(11);
  for (const { id, confidence, context, anchors, accepts } of DETECTORS) {
    const templates = anchors.flatMap((anchor) => (anchor.kind === "chain" ? anchor.templates : []));
    if (templates.length === 0 || confidence !== "high" || context !== undefined) continue;
    let taken = 0;
    for (let round = 0; round < ROUNDS; round++) if (accepts(filled(pick(random, templates), random))) taken++;
    assert.ok(taken <= ROUNDS * TAKEN_MAX, `${id} takes ${taken} of ${ROUNDS} by chance`);
  }
});

test("a word beside a match makes it certain", () => {
  const confidenceIn = (text: string): string | undefined => {
    const { findings } = scanText(compiled, text);
    const first = findings.find(({ detector }) => detector.enabled);
    return first && confidences(findings)(first);
  };
  for (const [plain, named] of [
    ["AB123456C", "NI number: AB123456C"],
    ["ec471008c", '"nino":"ec471008c"'],
    ["536-90-4399", "SSN: 536-90-4399"],
    ["1EG4-TE5-MK73", "Medicare 1EG4-TE5-MK73"],
  ] as const) {
    assert.equal(confidenceIn(`part ${plain} in stock`), "medium", plain);
    assert.equal(confidenceIn(named), "high", named);
  }
  // One hit with a name makes the kind certain.
  assert.equal(confidenceIn("536-90-4399, SSN 536-90-4398"), "high");
});
