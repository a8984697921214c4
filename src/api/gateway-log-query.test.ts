import assert from "node:assert/strict";
import { test } from "node:test";
import { PlatformError } from "#kernel/errors/errors.ts";
import { ask, startApi } from "../../test/support/api-server.ts";
import { foldLogFilters } from "./gateway-log-query.ts";
import { ROUTES } from "./routes/table.ts";

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

test("the filters are the same in each notation", () => {
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

test("values that do not belong to exactly one filter are refused", () => {
  assert.throws(
    () => filtersOf("filters.key=provider&filters.key=cached&filters.operator=eq&filters.operator=eq&filters.value=a"),
    /one value for each/,
  );
  assert.throws(() => filtersOf("filters.value=openai"), /one value for each/, "would stand for all logs");
});

test("a list in two notations is refused, because one of them would be ignored", () => {
  const ways = [
    `filters=${encodeURIComponent(JSON.stringify(ONE))}`,
    "filters.0.key=cached&filters.0.operator=eq&filters.0.value=true",
    "filters.key=cached&filters.operator=eq&filters.value=true",
  ];
  for (const [first, second] of ways.flatMap((first) => ways.filter((way) => way !== first).map((second) => [first, second])))
    assert.throws(() => filtersOf(`${first}&${second}`), /in one form/, `${first}&${second}`);
  for (const twice of [
    "filters.0.key=cached&filters.0.key=provider&filters.0.operator=eq&filters.0.value=true",
    "filters.0.key=cached&filters[0][key]=provider&filters.0.operator=eq&filters.0.value=true",
    "filters.0.key=cached&filters.0.operator=eq&filters.0.operator=neq&filters.0.value=true",
    "filters.key=cached&filters[key]=provider&filters.operator=eq&filters.value=true",
  ])
    assert.throws(() => filtersOf(twice), PlatformError, twice);
});

test("a deletion with half of its filters unread deletes no logs", async (t) => {
  const server = await startApi();
  t.after(() => server.close());
  const logs = `/accounts/${server.account_id}/ai-gateway/gateways/mine/logs`;
  const query = `filters=${encodeURIComponent(JSON.stringify(ONE))}&filters.0.key=cached&filters.0.operator=eq&filters.0.value=false`;
  for (const method of ["GET", "DELETE"]) {
    const { status, body } = await ask(server, method, `${logs}?${query}`);
    assert.deepEqual([status, body.errors[0].code, body.errors[0].source.pointer], [400, 7001, "/filters"], method);
  }
});

test("every invalid query of the AI gateway API gets the code of that API", async (t) => {
  const server = await startApi();
  t.after(() => server.close());
  for (const { method, path, paging, query } of ROUTES.filter((route) => route.path.includes("/ai-gateway/"))) {
    const names = query === undefined ? [] : Object.keys((query as { properties?: object }).properties ?? {});
    const wrong = [
      ...(paging === "page" ? ["page=0", "per_page=many"] : []),
      ...["order_by", "order_by_direction", "limit", "min_cost"].filter((name) => names.includes(name)).map((name) => `${name}=sideways`),
    ];
    for (const text of wrong) {
      const address = path.replace(":account_id", server.account_id).replaceAll(/:\w+/g, "0123456789abcdef0123456789abcdef");
      const { status, body } = await ask(server, method, `${address}?${text}`);
      assert.deepEqual([status, body.errors[0]?.code], [400, 7001], `${method} ${path}?${text}`);
      assert.match(body.errors[0]?.message ?? "", new RegExp(text.split("=")[0] ?? ""));
    }
  }
});
