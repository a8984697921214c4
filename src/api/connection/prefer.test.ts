import assert from "node:assert/strict";
import { test } from "node:test";
import { readPreferences } from "./prefer.ts";

test("RFC 7240: preferences among others, quoted, in any case, and above the limit", () => {
  const of = (field: string | undefined) => Object.values(readPreferences(field));
  assert.deepEqual(of(undefined), [false, undefined]);
  assert.deepEqual(of("respond-async, wait=10"), [true, 10]);
  assert.deepEqual(of('return=minimal; x=1, Wait="7"'), [false, 7]);
  assert.deepEqual(of("wait = 3, wait=9"), [false, 3]);
  assert.deepEqual(of("wait=0"), [false, 0]);
  assert.deepEqual(of("wait=100000"), [false, 60]);
  for (const field of ["wait", "wait=", "wait=-1", "wait=1.5", "waiting=4", "handling=lenient", ""])
    assert.deepEqual(of(field), [false, undefined]);
});
