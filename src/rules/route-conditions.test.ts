import { test } from "node:test";
import assert from "node:assert/strict";
import { conditionProblem, fieldOf, holds } from "./route-conditions.ts";

const FACTS = {
  metadata: { plan: "paid", age: "42", tags: ["a", "b"], "dotted.name": 1 },
  body: { stream: true, temperature: 0.5, messages: [{ role: "user", content: "translate this" }] },
};

test("operators compare as named, and incomparable values do not match", () => {
  for (const [condition, expected] of [
    [{}, true],
    [{ "metadata.plan": "paid" }, true],
    [{ plan: { $eq: "paid" } }, true],
    [{ "metadata.age": 42 }, true],
    [{ "metadata.age": { $gt: 41, $lte: 42 } }, true],
    [{ "metadata.age": { $gte: 43 } }, false],
    [{ "metadata.nothing": { $lt: 1 } }, false],
    [{ "metadata.nothing": { $ne: 1 } }, true],
    [{ "metadata.nothing": { $exists: false } }, true],
    [{ "metadata.tags": { $contains: "a" } }, true],
    [{ "body.messages.0.content": { $contains: "translate" } }, true],
    [{ "body.temperature": { $in: [0.5] } }, true],
    [{ "body.temperature": { $nin: ["0.5"] } }, false],
    [{ $or: [{ plan: "free" }, { "body.stream": true }] }, true],
    [{ $and: [{ plan: "free" }, { "body.stream": true }] }, false],
    [{ $not: { plan: "free" } }, true],
    [{ $nothing: 1 }, false],
    [{ plan: { $like: "p" } }, false],
    [{ "metadata.constructor": { $exists: true } }, false],
  ] as const)
    assert.equal(holds(condition, FACTS), expected, JSON.stringify(condition));
});

test("invalid conditions are refused, and depth is limited", () => {
  assert.equal(conditionProblem({ $and: [{ plan: "x" }, { age: { $gt: 1 } }] }), null);
  for (const condition of [[], "x", null, { $and: {} }, { $or: [1] }, { $where: "1" }, { plan: { $like: "x" } }, { $not: [] }])
    assert.notEqual(conditionProblem(condition), null, JSON.stringify(condition));
  let deep: object = { plan: "paid" };
  for (let i = 0; i < 20; i++) deep = { $not: deep };
  assert.notEqual(conditionProblem(deep), null);
  assert.equal(typeof holds(deep as Record<string, unknown>, FACTS), "boolean");
  assert.equal(fieldOf("body.__proto__.x", FACTS), undefined);
});
