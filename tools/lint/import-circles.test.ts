import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { ROOT } from "../steps.ts";
import { importCircles } from "./import-circles.ts";

const SRC = join(ROOT, "src");

const IMPORT = /\bfrom "([#.][^"]+)"|\bimport\("([#.][^"]+)"\)/g;

/** The imports of each file of the program, by paths below src/. Tests may import anything. */
function programImports(): ReadonlyMap<string, readonly string[]> {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("/testing/"),
  );
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(SRC, file), "utf8");
      const targets = Array.from(text.matchAll(IMPORT), ([, first, second]) => first ?? second ?? "");
      const below = targets.map((target) =>
        target.startsWith("#") ? target.slice(1) : relative(SRC, resolve(SRC, dirname(file), target)),
      );
      return [file, below];
    }),
  );
}

test("importCircles finds a circle whatever else its files import", () => {
  const imports = new Map([
    ["a", ["b", "d"]],
    ["b", ["c"]],
    ["c", ["a", "d"]],
    ["d", []],
    ["e", ["a"]],
  ]);
  assert.deepEqual(
    importCircles(imports).map((group) => group.toSorted()),
    [["a", "b", "c"]],
  );
});

test("no files of the program import each other in a circle", () => {
  const imports = programImports();
  assert.ok(imports.size > 1000);
  assert.deepEqual(importCircles(imports), []);
});
