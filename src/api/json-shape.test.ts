import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { exceededLimit } from "./json-shape.ts";

const LARGE = { depthMax: 100, valuesMax: 1_000_000, membersMax: 1_000_000 };
const exceeded = (text: string, limits: Partial<typeof LARGE>) => exceededLimit(Buffer.from(text), { ...LARGE, ...limits });

interface Shape {
  readonly depth: number;
  readonly values: number;
  readonly members: number;
}

function shapeOf(value: unknown): Shape {
  if (typeof value !== "object" || value === null) return { depth: 0, values: 1, members: 0 };
  const below = Object.values(value).map(shapeOf);
  return {
    depth: 1 + Math.max(0, ...below.map(({ depth }) => depth)),
    values: below.reduce((sum, { values }) => sum + values, 1),
    members: Math.max(Array.isArray(value) ? 0 : below.length, ...below.map(({ members }) => members)),
  };
}

test("property: the limits that a text exceeds are those of its value", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom("", " ", "\n\t"), (json, indent) => {
      const value: unknown = JSON.parse(json);
      const text = JSON.stringify(value, undefined, indent);
      const { depth, values, members } = shapeOf(value);
      assert.equal(exceeded(text, { depthMax: depth, valuesMax: values, membersMax: members }), undefined);
      assert.equal(exceeded(text, { valuesMax: values - 1 }), "values");
      if (depth > 0) assert.equal(exceeded(text, { depthMax: depth - 1 }), "depth");
      if (members > 1) assert.equal(exceeded(text, { membersMax: members - 1 }), "members");
    }),
  );
});

test("strings count once, whatever they contain, and texts that are not JSON cause no error", () => {
  assert.equal(exceeded(JSON.stringify({ '"[[{{,,\\"': '\\",,,[[[\\\\' }), { valuesMax: 2, depthMax: 1, membersMax: 1 }), undefined);
  for (const text of ["", "]", '"', '"\\', "[", "{,", "}{", "[[]]]]"]) assert.equal(exceeded(text, {}), undefined);
});
