import assert from "node:assert/strict";
import { test } from "node:test";
import { runStep, STATIC_STEPS } from "./steps.ts";

// The static checks as tests, so that `npm test` has one summary for everything.
for (const step of STATIC_STEPS) {
  test(`check: ${step.name}`, async () => {
    const { passed, output } = await runStep(step);
    assert.ok(passed, `\n${output.trim()}\n`);
  });
}
