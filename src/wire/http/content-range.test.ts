import assert from "node:assert/strict";
import { test } from "node:test";
import { parseContentRange } from "./content-range.ts";

test("RFC 9110 §14.4: the parser reads byte ranges with and without the total length", () => {
  assert.deepEqual(parseContentRange("bytes 42-1233/1234"), { first: 42, last: 1233, length: 1234 });
  assert.deepEqual(parseContentRange(" BYTES 0-0/* "), { first: 0, last: 0, length: null });
  for (const value of [
    "",
    "bytes",
    "bytes */1234",
    "bytes 5-4/10",
    "bytes 0-10/10",
    "bytes 0-/10",
    "lines 0-1/2",
    "bytes 0-1/2, bytes 4-5/6",
  ])
    assert.equal(parseContentRange(value), null, value);
  assert.equal(parseContentRange(`bytes 0-${"9".repeat(30)}/*`), null);
});
