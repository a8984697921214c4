import assert from "node:assert/strict";
import { test } from "node:test";
import { foldLogFilters } from "./gateway-log-query.ts";

const filtersOf = (query: string): unknown => {
  const given: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const before = given[name];
    given[name] = before === undefined ? value : [before, value].flat();
  }
  const { filters, ...rest } = foldLogFilters(given);
  assert.deepEqual(rest, given["page"] === undefined ? {} : { page: given["page"] });
  return filters === undefined ? undefined : JSON.parse(filters as string);
};

const ONE = [{ key: "provider", operator: "eq", value: ["openai", "groq"] }];

test("the list of filters is the same in each way of writing it", () => {
  assert.equal(filtersOf("page=2"), undefined);
  assert.deepEqual(filtersOf(`page=1&filters=${encodeURIComponent(JSON.stringify(ONE))}`), ONE);
  assert.deepEqual(
    filtersOf(
      `filters=${encodeURIComponent(JSON.stringify(ONE[0]))}&filters=${encodeURIComponent('{"key":"cost","operator":"gt","value":[1]}')}`,
    ),
    [...ONE, { key: "cost", operator: "gt", value: [1] }],
  );
  for (const query of [
    "filters[0][key]=provider&filters[0][operator]=eq&filters[0][value][0]=openai&filters[0][value][1]=groq",
    "filters[0][key]=provider&filters[0][operator]=eq&filters[0][value][]=openai&filters[0][value][]=groq",
    "filters.0.key=provider&filters.0.operator=eq&filters.0.value=openai&filters.0.value=groq",
    "filters.key=provider&filters.operator=eq&filters.value=openai&filters.value=groq",
    "filters[key]=provider&filters[operator]=eq&filters[value]=openai&filters[value]=groq",
  ])
    assert.deepEqual(filtersOf(query), ONE, query);
  assert.deepEqual(
    filtersOf("filters.key=provider&filters.key=cached&filters.operator=eq&filters.operator=neq&filters.value=openai&filters.value=true"),
    [
      { key: "provider", operator: "eq", value: ["openai"] },
      { key: "cached", operator: "neq", value: ["true"] },
    ],
  );
});

test("values that cannot be given to one filter each are refused", () => {
  assert.throws(
    () => filtersOf("filters.key=provider&filters.key=cached&filters.operator=eq&filters.operator=eq&filters.value=a"),
    /one value for each/,
  );
});
