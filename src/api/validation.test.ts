import assert from "node:assert/strict";
import { test } from "node:test";
import { Type } from "typebox";
import { PlatformErrors } from "./failure.ts";
import { compileCheck } from "./validation.ts";

const check = compileCheck(
  Type.Object({
    name: Type.String({ maxLength: 3 }),
    kind: Type.Optional(Type.Enum(["a", "b"])),
    either: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    rules: Type.Optional(Type.Array(Type.Object({ action: Type.String() }))),
  }),
  "body",
);

const found = (value: unknown): readonly (readonly [string | undefined, string])[] => {
  try {
    check(value);
    return [];
  } catch (error) {
    assert.ok(error instanceof PlatformErrors);
    return error.items.map((item) => [item.source, item.message]);
  }
};

test("what fits passes, unknown members included", () => {
  assert.deepEqual(found({ name: "abc", kind: "a", either: null, rules: [{ action: "log", extra: 1 }], more: {} }), []);
});

test("every finding names its place and what would have fitted", () => {
  assert.deepEqual(found({}), [["/name", '"name" is required.']]);
  assert.deepEqual(found({ name: 4 }), [["/name", '"name" must be string.']]);
  assert.deepEqual(found({ name: "a", kind: "c" }), [["/kind", '"kind" must be "a" or "b".']]);
  assert.deepEqual(found({ name: "a", either: 1 }), [["/either", '"either" must be string or null.']]);
  assert.deepEqual(found({ name: "a", rules: [{ action: "log" }, {}] }), [["/rules/1/action", '"rules.1.action" is required.']]);
  assert.deepEqual(found([]), [["", "The body must be object."]]);
  assert.equal(found({ name: "abcd" })[0]?.[0], "/name");
});

test("a body that is missing is named as such", () => {
  assert.throws(() => check(undefined), /needs a JSON body/);
});
