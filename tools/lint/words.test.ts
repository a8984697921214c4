import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../steps.ts";
import { type Area, AREAS, WORD_RULES } from "./words.ts";

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .filter((file) => /\.(?:tsx?|md)$/.test(file) && !file.startsWith("tools/lint/words"));

const areaOf = (file: string): Area | undefined =>
  (Object.keys(AREAS) as readonly Area[]).find((area) => AREAS[area].test(file) && (area === "pages") === file.endsWith(".md"));

const lines = files.flatMap((file) => {
  const area = areaOf(file);
  return area === undefined
    ? []
    : readFileSync(join(ROOT, file), "utf8")
        .split("\n")
        .map((text, at) => ({ area, text, place: `${file}:${at + 1}` }));
});

for (const { name, pattern, instead, most } of WORD_RULES)
  test(`the project's texts contain at most the allowed number: ${name}`, () => {
    for (const [area, bound] of Object.entries(most)) {
      const found = lines.filter((line) => line.area === area && pattern.test(line.text));
      const examples = found.slice(-5).map(({ place, text }) => `${place}: ${text.trim()}`);
      assert.ok(found.length <= bound, `${area}: ${found.length}, at most ${bound}. Instead: ${instead}.\n${examples.join("\n")}`);
    }
  });
