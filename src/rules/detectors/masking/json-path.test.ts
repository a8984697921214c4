import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { jsonPathsAt } from "./json-path.ts";

/** Every text in the value, with the path that a reader of it would write. */
function leaves(value: unknown, path: string): (readonly [path: string, text: string])[] {
  if (typeof value === "string") return [[path, value]];
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    leaves(item, path + (/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`)),
  );
}

const KEY = fc.oneof(
  fc.constantFrom("a", "card", "full name", "x-y", "é", "1", 'say "a\\b"', "line\nfeed"),
  fc.string({ unit: fc.constantFrom(..."ab{}[],: "), maxLength: 5 }),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", maxDepth: 6 },
    fc.constant("LEAF"),
    fc.constantFrom<unknown>(1.5, null, true, 'q"uo\\te', "{[,:"),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(KEY, tie("tree"), { maxKeys: 4 }),
  ),
}));

test("every value is found under its path", () => {
  fc.assert(
    fc.property(tree, fc.constantFrom(0, 2), (value, indent) => {
      let number = 0;
      const numbered = JSON.parse(JSON.stringify(value), (_, item: unknown) => (item === "LEAF" ? `LEAF${number++}` : item)) as unknown;
      const bytes = Buffer.from(JSON.stringify(numbered, null, indent));
      const expected = leaves(numbered, "$").filter(([, text]) => text.startsWith("LEAF"));
      const found = expected.map(([, text]) => bytes.indexOf(`"${text}"`) + 1).map((offset, index) => ({ offset, index }));
      found.sort((a, b) => a.offset - b.offset);
      const paths = jsonPathsAt(
        bytes,
        found.map(({ offset }) => offset),
      );
      assert.deepEqual(
        paths,
        found.map(({ index }) => expected[index]?.[0]),
      );
    }),
    { numRuns: 300 },
  );
});

test("any bytes can be walked through", () => {
  const bytes = Buffer.from('{"a":[{"b":1},{"c":4111}]} {"d": ');
  assert.deepEqual(jsonPathsAt(bytes, [19, 200]), ["$.a[1].c", "$.d"]);
  assert.deepEqual(jsonPathsAt(Buffer.from("]]}}4111"), [4]), ["$"]);
  const deep = Buffer.from(`${'{"k":'.repeat(5000)}4111`);
  assert.equal(jsonPathsAt(deep, [deep.length - 4])[0], "$" + ".k".repeat(32));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat(250), { maxLength: 5 }), (any, offsets) => {
      assert.equal(
        jsonPathsAt(
          any,
          offsets.sort((a, b) => a - b),
        ).length,
        offsets.length,
      );
    }),
    { numRuns: 300 },
  );
});

test("a key that contains a secret is shown as [masked] in paths, at any length", () => {
  const secret = `eyJ${"k".repeat(200)}`;
  const text = JSON.stringify({ first: { [`a ${secret}`]: { card: "4111" } }, second: { b: "4112" } });
  const from = text.indexOf(secret);
  const offsets = [from, text.indexOf("4111"), text.indexOf("4112")];
  const hidden = [
    { from, to: from + secret.length },
    { from: from + 3, to: from + 9 },
    { from: offsets[1] ?? 0, to: (offsets[1] ?? 0) + 4 },
  ];
  assert.deepEqual(jsonPathsAt(Buffer.from(text), offsets, hidden), ['$.first["[masked]"]', '$.first["[masked]"].card', "$.second.b"]);
});
