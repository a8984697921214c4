import assert from "node:assert/strict";
import { test } from "node:test";
import { once } from "./once.ts";

test("the value is computed at the first call only, also if it is undefined", () => {
  let calls = 0;
  const find = once(() => void calls++);
  assert.equal(calls, 0);
  assert.deepEqual([find(), find(), calls], [undefined, undefined, 1]);
});
