import assert from "node:assert/strict";
import { test } from "node:test";
import { LateTap } from "./late-tap.ts";

function tapped() {
  const seen: string[] = [];
  const late = new LateTap({
    chunk: (bytes, start, end) => void seen.push(Buffer.from(bytes.subarray(start, end)).toString()),
    last: (bytes, start, end) => void seen.push(`${Buffer.from(bytes.subarray(start, end)).toString()}, the last`),
    end: () => void seen.push("end"),
    abort: () => void seen.push("abort"),
  });
  return { late, seen };
}

const text = Buffer.from("one two three");

test("what passed is copied once the visitor has it, in its order and once", () => {
  const { late, seen } = tapped();
  late.chunk(text, 0, 3);
  assert.deepEqual(seen, []);
  late.chunk(text, 4, 7);
  assert.deepEqual(seen, ["one"]);
  late.settle();
  late.settle();
  assert.deepEqual(seen, ["one", "two"]);
  late.chunk(text, 8, 13);
  late.finish();
  assert.deepEqual(seen, ["one", "two", "three, the last"]);
});

test("a body whose last piece was copied, or that has none, ends by itself", () => {
  for (const pieces of [0, 1]) {
    const { late, seen } = tapped();
    if (pieces === 1) late.chunk(text, 0, 3);
    late.settle();
    late.finish();
    assert.deepEqual(seen, [...["one"].slice(0, pieces), "end"]);
  }
});

test("of a response that breaks off, what was sent is copied before", () => {
  const { late, seen } = tapped();
  late.chunk(text, 0, 3);
  late.abort();
  assert.deepEqual(seen, ["one", "abort"]);
});
