import assert from "node:assert/strict";
import { test } from "node:test";
import { threadLimits } from "./thread-limits.ts";

test("numbered threads have the limits of their kind", () => {
  assert.deepEqual(threadLimits("gateway"), { maxYoungGenerationSizeMb: 24 });
  assert.deepEqual(threadLimits("logpush"), { maxYoungGenerationSizeMb: 8 });
  assert.ok(threadLimits("edge-1").maxYoungGenerationSizeMb);
  assert.deepEqual(threadLimits("edge-12"), threadLimits("edge-1"));
});

test("a detector's heap is limited", () => {
  assert.ok(threadLimits("detector").maxOldGenerationSizeMb);
});

test("collections of new objects are short in nameservers, whose answers wait for them", () => {
  assert.ok((threadLimits("nameserver-1").maxYoungGenerationSizeMb ?? Infinity) <= 16);
});
