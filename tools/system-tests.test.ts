import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { ROOT } from "./steps.ts";
import { sharedSystemSteps, systemTests } from "./system-tests.ts";

test("each system test runs once: alone or in a shared process", () => {
  const { shared, alone } = systemTests();
  const all = globSync("test/**/*.test.ts", { cwd: ROOT }).sort();
  assert.deepEqual([...shared, ...alone].sort(), all);
  const inSteps = sharedSystemSteps().flatMap(({ args }) => args.filter((arg) => arg.endsWith(".test.ts")));
  assert.deepEqual(inSteps.sort(), shared);
});
