import { test } from "node:test";
import assert from "node:assert/strict";
import { fc } from "../../../test/support/property.ts";
import { readModel, readModelFromHead } from "./request-model.ts";

test("the model is the top-level string, and a body that is not an object is malformed", () => {
  assert.deepEqual(readModel(Buffer.from('{"messages":[{"model":"inner"}],"model":"gpt-4o"}')), { kind: "object", model: "gpt-4o" });
  assert.deepEqual(readModel(Buffer.from('{"model":7}')), { kind: "object", model: "" });
  for (const text of ["", "[]", "null", '"model"', "{", '{"model":"x"} extra'])
    assert.deepEqual(readModel(Buffer.from(text)), { kind: "malformed" }, text);
});

test("the beginning of a body gives the same model as the whole", () => {
  const text = fc.string({ unit: fc.constantFrom("a", '"', "\\", "{", "}", "[", "]", ",", ":", "é", "model") });
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: "small" },
      text,
      fc.integer(),
      fc.constant(null),
      fc.array(tie("any"), { maxLength: 3 }),
      fc.dictionary(text, tie("any"), { maxKeys: 3 }),
    ),
  })).any;
  fc.assert(
    fc.property(
      fc.dictionary(
        text.filter((key) => key !== "model"),
        value,
        { maxKeys: 3 },
      ),
      text,
      fc.dictionary(
        text.filter((key) => key !== "model"),
        value,
        { maxKeys: 3 },
      ),
      (before, model, after) => {
        const bytes = Buffer.from(JSON.stringify({ ...before, model, ...after }));
        const whole = readModel(bytes);
        assert.equal(readModelFromHead(bytes), whole.kind === "object" ? whole.model : undefined);
      },
    ),
  );
});

test("a beginning that ends before the model gives no model", () => {
  for (const text of ['{"messages":[', '{"model', '{"model":"gpt', '{"a":{"model":"x"', "not json"])
    assert.equal(readModelFromHead(Buffer.from(text)), "", text);
});
