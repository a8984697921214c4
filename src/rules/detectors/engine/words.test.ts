import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { compileDetectors } from "./compiled.ts";
import { scanText } from "./scan-text.ts";
import { wordDetector } from "./words.ts";

const found = (words: readonly string[], body: string): string[] => {
  const { findings } = scanText(compileDetectors([wordDetector({ id: "f".repeat(32), name: "x", words })]), body);
  return findings.flatMap(({ hits }) => hits.map(({ text }) => Buffer.from(text, "latin1").toString()));
};

test("words are found whole, in any case and script", () => {
  for (const [words, body, hits] of [
    [["Project Falcon"], "project falcon, PROJECT FALCON and Project Falcons, subproject falcon", ["project falcon", "PROJECT FALCON"]],
    [["falcon", "Falcon Nine"], "a FALCON NINE", ["FALCON NINE"]],
    [["Blue (Moon)"], "blue (moon)light", ["blue (moon)"]],
    [["Ärzte"], "die ärzte, DIE ÄRZTE, ärztes", ["ärzte", "ÄRZTE"]],
    [["проект"], "ПРОЕКТ проекта", ["ПРОЕКТ"]],
    [["機密情報"], "これは機密情報", ["機密情報"]],
    [["47-11"], "4711 47-11", ["47-11"]],
    [["straße"], "STRASSE Straße", ["Straße"]],
  ] as const)
    assert.deepEqual(found(words, body), hits, words.join());
});

test("any two hundred words are found among others", () => {
  const word = fc.stringMatching(/^[A-Za-zäöüß]{3,12}$/);
  fc.assert(
    fc.property(fc.uniqueArray(word, { minLength: 1, maxLength: 200 }), fc.nat(), fc.boolean(), (words, at, isCapital) => {
      const chosen = words[at % words.length] ?? "";
      const written = isCapital && !chosen.includes("ß") ? chosen.toUpperCase() : chosen;
      assert.deepEqual(found(words, `.. ${written} ..`), [written]);
    }),
    { numRuns: 60 },
  );
});
