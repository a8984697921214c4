import assert from "node:assert/strict";
import { test } from "node:test";
import { Value } from "typebox/value";
import { CustomCostCreate } from "./gateway-provider.ts";

test("a price under an invalid name is refused, because its tokens would be free", () => {
  const cost = { account_provider_id: "f174e90a-fafe-4643-bbbc-4a0ed4fc8415", model: "m" };
  assert.equal(Value.Check(CustomCostCreate, { ...cost, token_pricing: { input_tokens: 1, output_tokens: 2 } }), true);
  assert.equal(Value.Check(CustomCostCreate, { ...cost, token_pricing: { input: 1, output: 2 } }), false);
});
