import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChainEnd, Chains } from "./chains.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";

/** One text of a template; a wide gap as a tab. */
const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ["#", "7"],
  ["A", "K"],
  ["*", "5"],
  ["~", "-"],
  ["_", "\t"],
]);
const exampleOf = (template: string): string => Array.from(template, (char) => EXAMPLES.get(char) ?? char).join("");

test("the automaton of all detectors reads each of their templates to its end", () => {
  const chains = new Chains(DETECTORS);
  const ends: ChainEnd[] = [];
  let count = 0;
  for (const detector of DETECTORS) {
    for (const anchor of detector.anchors) {
      if (anchor.kind !== "chain") continue;
      for (const template of anchor.templates) {
        const text = exampleOf(template);
        if (!/\d/.test(text)) continue;
        const found = ends.slice(0, chains.read(Buffer.from(text), 0, ends));
        assert.ok(
          found.some(({ end, detectors }) => end === text.length && detectors.includes(detector)),
          `${detector.id} ${template}`,
        );
        count++;
      }
    }
  }
  assert.ok(count > 10_000, String(count));
});
