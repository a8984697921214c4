import assert from "node:assert/strict";
import { test } from "node:test";
import { type TSchema, Type } from "typebox";
import { PlatformErrors } from "./failure.ts";
import { compileCheck, droppedNote, knownPart } from "./validation.ts";

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
  assert.deepEqual(found({ name: 4 }), [["/name", '"name" must be a string.']]);
  assert.deepEqual(found({ name: "a", kind: "c" }), [["/kind", '"kind" must be "a" or "b".']]);
  assert.deepEqual(found({ name: "a", either: 1 }), [["/either", '"either" must be a string or null.']]);
  assert.deepEqual(found({ name: "a", rules: [{ action: "log" }, {}] }), [["/rules/1/action", '"rules.1.action" is required.']]);
  assert.deepEqual(found({ name: "a", changes: 1 }), [["/changes", '"changes" must be an array or null.']]);
  assert.deepEqual(found({ name: "a", changes: [{}] }), [["/changes/0/id", '"changes.0.id" is required.']]);
  assert.deepEqual(found([]), [["", "The body must be an object."]]);
  assert.equal(found({ name: "abcd" })[0]?.[0], "/name");
});

test("no sentence is that of the validator", () => {
  const strict = Type.Object({ a: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })) }, { additionalProperties: false });
  const sentences = (schema: TSchema, value: unknown): readonly string[] => {
    try {
      compileCheck(schema, "body")(value);
      return [];
    } catch (error) {
      assert.ok(error instanceof PlatformErrors);
      return error.items.map(({ message }) => message);
    }
  };
  assert.deepEqual(sentences(strict, { extra: 1 }), ['"extra" is not allowed here.', 'The body has unknown members: "extra".']);
  assert.deepEqual(sentences(strict, { a: 0 }), ['"a" must be at least 1.']);
  assert.deepEqual(sentences(strict, { a: 6 }), ['"a" must be at most 5.']);
  assert.deepEqual(sentences(strict, { a: 1.5 }), ['"a" must be a whole number.']);
  for (const [schema, value, expected] of [
    [Type.String({ minLength: 1 }), "", "must have at least 1 character"],
    [Type.String({ maxLength: 2 }), "abc", "must have at most 2 characters"],
    [Type.String({ pattern: "^a$" }), "b", "must match the regular expression ^a$"],
    [Type.String({ format: "date-time" }), "b", "must be a time, as in 2026-01-31T12:00:00Z"],
    [Type.Array(Type.Number(), { maxItems: 1 }), [1, 2], "must have at most 1 item"],
    [Type.Array(Type.Number(), { uniqueItems: true }), [1, 1], "must not have the same item twice"],
    [Type.Boolean(), 1, "must be true or false"],
  ] as const)
    assert.deepEqual(sentences(schema, value), [`The body ${expected}.`]);
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

const Rule = Type.Object({ service: Type.String(), options: Type.Optional(Type.Partial(Type.Object({ port: Type.Integer() }))) });
const Body = Type.Object({
  rules: Type.Array(Rule),
  meta: Type.Optional(Type.Object({}, { additionalProperties: true })),
  either: Type.Optional(Type.Union([Type.Object({ a: Type.String() }), Type.Null()])),
});

test("members that the schema does not name are dropped at any depth, and named", () => {
  const body = { rules: [{ service: "a", hostnme: "b", options: { port: 1, prot: 2 } }], more: { x: 1 }, own_branding: true };
  assert.deepEqual(knownPart(Body, body), {
    value: { rules: [{ service: "a", options: { port: 1 } }] },
    dropped: ["rules.0.hostnme", "rules.0.options.prot", "more", "own_branding"],
  });
  assert.deepEqual(knownPart(Body, body, ["_branding"]).value, { rules: [{ service: "a", options: { port: 1 } }], own_branding: true });
});

test("objects with any members and alternatives stay as they are", () => {
  const body = { rules: [], meta: { any: { thing: 1 } }, either: { a: "", b: 1 } };
  assert.deepEqual(knownPart(Body, body), { value: body, dropped: [] });
  assert.deepEqual(knownPart(Body, undefined), { value: undefined, dropped: [] });
});

test("a name of the language is a member like any other", () => {
  const { value, dropped } = knownPart(Body, JSON.parse(`{"rules":[],"__proto__":{"rules":1},"constructor":1}`));
  assert.deepEqual([Object.keys(value as object), dropped], [["rules"], ["__proto__", "constructor"]]);
});

test("a note names the first members, and counts the others", () => {
  assert.equal(droppedNote([]), null);
  assert.equal(droppedNote(["a", 'b"']), `Members of the body without a meaning here were dropped: "a", "b\\"".`);
  const many = droppedNote(Array.from({ length: 10_000 }, (_, at) => `${at}${"x".repeat(10_000)}`))!;
  assert.match(many, /, and 9992 more\.$/);
  assert.ok(many.length < 1_000);
});
