import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isTestFile } from "./rule.ts";

const SRC = join(import.meta.dirname, "../../src");

/** Names that two files of a layer may export, with the reason. None is to be added without one. */
const SHARED: Readonly<Record<string, string>> = {
  "control ZoneRef": "the same zone, once with the fields that permissions need",
  "rules Value": "values of expressions, as syntax and while they run",
  "rules compileValue": "the same, from a syntax tree and from text",
  "store accountSensitiveData": "a migration keeps its own copy of what it created",
};

test("no two files of a layer export the same name", () => {
  const files = globSync("**/*.ts", { cwd: SRC }).filter((file) => !isTestFile(join(SRC, file)));
  const places = new Map<string, string[]>();
  for (const file of files) {
    const exported = readFileSync(join(SRC, file), "utf8").matchAll(
      /^export (?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm,
    );
    // Overloads repeat a name within its file.
    for (const name of new Set([...exported].map(([, name]) => name))) {
      const key = `${file.split("/")[0]} ${name}`;
      places.set(key, [...(places.get(key) ?? []), file]);
    }
  }
  const repeated = [...places].filter(([, { length }]) => length > 1);
  assert.deepEqual(
    repeated.filter(([key]) => SHARED[key] === undefined),
    [],
  );
  assert.deepEqual(Object.keys(SHARED).toSorted(), repeated.map(([key]) => key).toSorted(), "what is not repeated leaves the list");
});
