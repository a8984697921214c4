import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { compileDetectors } from "./compiled.ts";
import { BodyScanner } from "./scan.ts";
import { DETECTORS } from "./table.ts";

// Labelled cases of others stay outside the repository; where they are not at hand the test is skipped, visibly.
const CASES = new URL("../../../../shared/data/sensitive-data-dev.jsonl", import.meta.url);

interface Case {
  readonly text: string;
  readonly label: string;
  readonly kind: string;
}

const compiled = compileDetectors(DETECTORS);

/** A bare value stands in a page beside a word that says what it is, as the cases' notes expect. */
function finds(one: Case, kind: string, context: string): boolean {
  const scanner = new BodyScanner(compiled);
  scanner.push(Buffer.from(one.kind === "value_only" ? `${context} ${one.text}` : one.text));
  return scanner.end().findings.some((finding) => finding.detector.id.startsWith(kind));
}

test("recall on labelled cases", { skip: existsSync(CASES) ? false : "the labelled cases are not at hand" }, (t) => {
  const cases = readFileSync(CASES, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Case);
  for (const [label, kind, context, bar] of [
    ["fin.credit_card", "fin.card_", "card number", 0.97],
    ["fin.iban", "fin.iban", "IBAN", 0.97],
  ] as const) {
    const labelled = cases.filter((one) => one.label === label);
    const missed = labelled.filter((one) => !finds(one, kind, context));
    const negatives = cases.filter((one) => one.label === "none");
    const wrong = negatives.filter((one) => finds(one, kind, ""));
    const recall = 1 - missed.length / labelled.length;
    t.diagnostic(`${label}: recall ${(100 * recall).toFixed(1)} % of ${labelled.length}, ${wrong.length} false of ${negatives.length}`);
    for (const one of missed) t.diagnostic(`missed ${label}: ${one.text.slice(0, 120)}`);
    for (const one of wrong) t.diagnostic(`wrong ${label}: ${one.text.slice(0, 120)}`);
    assert.ok(labelled.length > 100 && recall >= bar, `${label}: ${recall}`);
    assert.ok(wrong.length <= negatives.length * 0.005);
  }
});
