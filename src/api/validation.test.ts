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
    changes: Type.Optional(Type.Union([Type.Array(Type.Object({ id: Type.String() })), Type.Null()])),
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

test("valid values pass, including unknown members", () => {
  assert.deepEqual(found({ name: "abc", kind: "a", either: null, rules: [{ action: "log", extra: 1 }], more: {} }), []);
});

test("every error has its pointer and the expected value", () => {
  assert.deepEqual(found({}), [["/name", '"name" is required.']]);
  assert.deepEqual(found({ name: 4 }), [["/name", '"name" must be string.']]);
  assert.deepEqual(found({ name: "a", kind: "c" }), [["/kind", '"kind" must be "a" or "b".']]);
  assert.deepEqual(found({ name: "a", either: 1 }), [["/either", '"either" must be string or null.']]);
  assert.deepEqual(found({ name: "a", rules: [{ action: "log" }, {}] }), [["/rules/1/action", '"rules.1.action" is required.']]);
  assert.deepEqual(found({ name: "a", changes: 1 }), [["/changes", '"changes" must be array or null.']]);
  assert.deepEqual(found({ name: "a", changes: [{}] }), [["/changes/0/id", '"changes.0.id" is required.']]);
  assert.deepEqual(found([]), [["", "The body must be object."]]);
  assert.equal(found({ name: "abcd" })[0]?.[0], "/name");
});

test("a long list is read only as far as its first error", () => {
  const items: unknown[] = Array.from({ length: 20_000 }, () => ({ id: "a" }));
  assert.deepEqual(found({ name: "a", changes: items.with(19_999, {}) }), [["/changes/19999/id", '"changes.19999.id" is required.']]);
  const faulty = items.with(0, {});
  Object.defineProperty(faulty, 10_000, { get: () => assert.fail("it was known before") });
  assert.deepEqual(found({ name: "a", changes: faulty }), [["/changes/0/id", '"changes.0.id" is required.']]);
});

test("a missing body has its own error", () => {
  assert.throws(() => check(undefined), /needs a JSON body/);
});
