import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "graphql";
import { boundSteps } from "./query-steps.ts";

const many = (count: number, text: (i: number) => string): string => Array.from({ length: count }, (_, i) => text(i)).join(" ");
const isAllowed = (query: string): boolean => {
  try {
    boundSteps(parse(query));
    return true;
  } catch {
    return false;
  }
};

test("documents with many field pairs to compare, or repeated spreads, are refused before validation", () => {
  for (const [name, query] of Object.entries({
    "one field again and again": `{${many(480, () => "viewer{__typename}")}}`,
    "in inline fragments": `{${many(200, () => "...on Query{viewer{__typename}}")}}`,
    "in fragments": `{${many(150, (i) => `...f${i}`)}} ${many(150, (i) => `fragment f${i} on Query{viewer{a}}`)}`,
    "below fields that are merged": `{${many(15, () => `viewer{${many(15, () => "zones{a}")}}`)}}`,
    "fragments that double at each level": `{a{...f0}} ${many(40, (i) => `fragment f${i} on T{a{...f${i + 1}} b{...f${i + 1}}}`)}`,
    "a fragment within itself": "{a{...f}} fragment f on T{a{...f}}",
  }))
    assert.equal(isAllowed(query), false, name);
});

test("documents of dashboards and exporters are allowed", () => {
  const node = (i: number): string => `n${i}:httpRequests(limit:10,filter:{a:"b"}){count sum{bytes visits} dimensions{date host path}}`;
  assert.ok(isAllowed(`{viewer{zones(filter:{zoneTag:"x"}){${many(60, node)}}}}`));
  assert.ok(
    isAllowed(
      `{viewer{${many(20, (i) => `z${i}:zones{...all}`)}}} fragment all on Zone{${many(10, node)} ...more} fragment more on Zone{a b c}`,
    ),
  );
  assert.ok(isAllowed(`query A{viewer{...absent}} query B{viewer{a a b b}}`));
});
