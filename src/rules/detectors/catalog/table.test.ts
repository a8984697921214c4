import assert from "node:assert/strict";
import { test } from "node:test";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { BodyScanner } from "#rules/detectors/engine/scan.ts";
import { DETECTORS } from "./table.ts";

const compiled = compileDetectors(DETECTORS);

function found(id: string, text: string): boolean {
  const scanner = new BodyScanner(compiled);
  scanner.push(Buffer.from(text));
  return scanner.end().findings.some((finding) => finding.detector.id === id);
}

for (const detector of DETECTORS) {
  test(`${detector.id} finds its hits and nothing in its misses`, () => {
    for (const hit of detector.hits) assert.ok(found(detector.id, hit), `missed: ${hit}`);
    for (const miss of detector.misses) assert.ok(!found(detector.id, miss), `false hit: ${miss}`);
    assert.ok(detector.hits.length > 0 && detector.misses.length > 0);
  });
}

test("IDs are unique and well-formed, and card hits belong to one network only", () => {
  const ids = DETECTORS.map((detector) => detector.id);
  const ruleIds = DETECTORS.map((detector) => detector.rule_id);
  assert.equal(new Set([...ids, ...ruleIds]).size, 2 * DETECTORS.length);
  for (const id of ruleIds) assert.match(id, /^[0-9a-f]{32}$/);
  const cards = DETECTORS.filter((detector) => detector.id.startsWith("fin.card_"));
  for (const card of cards)
    for (const hit of card.hits)
      assert.deepEqual(
        cards.filter((other) => found(other.id, hit)).map((other) => other.id),
        [card.id],
        hit,
      );
});

test("patterns are sticky and anchors literal, so that a scan is linear", () => {
  for (const detector of DETECTORS) {
    for (const pattern of detector.patterns) {
      assert.ok(pattern instanceof RegExp);
      assert.equal(pattern.flags, "y", `${detector.id} ${pattern.source}`);
    }
    assert.ok(detector.anchors.length > 0);
  }
});
