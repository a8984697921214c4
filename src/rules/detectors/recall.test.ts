import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { percent, recallOf } from "#rules/detectors/testing/recall.ts";

// Labelled third-party cases are not in the repository; without them the test is reported as skipped.
const CASES = new URL("../../../../shared/data/sensitive-data-dev.jsonl", import.meta.url);

/** Kinds with enough cases, and the least share of them that must be found. */
const BARS: ReadonlyMap<string, number> = new Map([
  ["fin.credit_card", 0.97],
  ["fin.iban", 0.97],
  ["pii.phone", 0.95],
  ["pii.ip", 0.95],
]);
const CASES_MIN = 100;
/** Share of texts without sensitive data in which a card or account may be found; check digits keep it low. */
const WRONG_MAX = 0.005;

test("recall of each kind on labelled cases", { skip: existsSync(CASES) ? false : "the labelled cases are not at hand" }, (t) => {
  const { kinds, negatives, wrong } = recallOf(CASES);
  for (const row of kinds) t.diagnostic(`${row.kind}: ${percent(row)} of ${row.cases}`);
  t.diagnostic(`found in ${wrong.length} of ${negatives} texts without any`);
  for (const [kind, bar] of BARS) {
    const row = kinds.find((one) => one.kind === kind);
    assert.ok(row !== undefined && row.cases > CASES_MIN && row.found >= bar * row.cases, `${kind}: ${row?.missed.join(" | ")}`);
  }
  const checked = wrong.filter(({ detectors }) => detectors.some((id) => /^fin\.(?:card_|iban)/.test(id)));
  assert.ok(checked.length <= negatives * WRONG_MAX, checked.map(({ text }) => text).join(" | "));
});
