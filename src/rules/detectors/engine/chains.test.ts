import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { type ChainEnd, Chains } from "./chains.ts";
import type { Detector } from "./detector.ts";
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

test("any detectors together find each template's end for exactly the detectors that have it", () => {
  const template = fc.string({ unit: fc.constantFrom("#", "A", "-", " "), minLength: 1, maxLength: 5 }).filter((text) => /#A*$/.test(text));
  const templates = fc.array(template, { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(fc.array(templates, { maxLength: 2 }), { minLength: 1, maxLength: 4 }), (lists) => {
      const anchored = lists.map((anchors) => anchors.map((own) => ({ kind: "chain", templates: own })));
      // Chains read nothing else of a detector.
      const detectors = anchored.map((anchors) => ({ anchors }) as unknown as Detector);
      // The second time, templates have been read.
      for (const chains of [new Chains(detectors), new Chains(detectors.toReversed())]) {
        for (const wanted of lists.flat(2)) {
          const text = exampleOf(wanted);
          const ends: ChainEnd[] = [];
          const found = ends.slice(0, chains.read(Buffer.from(text), 0, ends)).find(({ end }) => end === text.length);
          const having = detectors.filter((_, index) => lists[index]?.flat().includes(wanted));
          assert.deepEqual(new Set(found?.detectors), new Set(having));
        }
      }
    }),
  );
});
