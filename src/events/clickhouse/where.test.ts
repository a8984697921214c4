import assert from "node:assert/strict";
import { test } from "node:test";
import { anyWhere } from "../../../test/support/any-requests.ts";
import { fc } from "../../../test/support/property.ts";
import type { Where } from "#events/sql/where-sql.ts";
import { groupStatement } from "./groups.ts";
import { insertedColumns, schemaStatements } from "./tables.ts";
import { clickHouseWhere, createBinder } from "./where.ts";

const textOf = (where: Where) => {
  const binder = createBinder();
  return { text: clickHouseWhere("requests", where, binder), params: binder.params };
};

test("values are bound by name and type, and the conditions of a query stand beside those of its zone", () => {
  assert.deepEqual(
    textOf([
      { column: "zone_id", operator: "eq", value: "zone" },
      { any: [[{ column: "status", operator: "ge", value: 500 }], [{ column: "path", operator: "like", value: "/A%\\" }]] },
      { column: "origin_status", operator: "not_in", value: [1, 2.5] },
      { column: "host", operator: "in", value: [] },
    ]),
    {
      text: "(zone_id = {p0:String}) AND (((status >= {p1:Int64})) OR ((lower(path) LIKE {p2:String}))) AND (origin_status NOT IN {p3:Array(Float64)}) AND 0",
      params: { p0: "zone", p1: 500, p2: "/a%\\\\", p3: [1, 2.5] },
    },
  );
  assert.deepEqual(textOf([]), { text: "1", params: {} });
  assert.equal(textOf([{ any: [] }]).text, "0");
  assert.throws(() => textOf([{ column: "1=1 OR path" as never, operator: "eq", value: "" }]), /no column/);
});

test("property: no text of a condition is part of the statement", () => {
  const secret = "n0tInTheStatement'\\{}";
  const columns = fc.constantFrom("path", "host", "client_ip", "zone_id");
  const operators = fc.constantFrom("eq", "ne", "has", "like", "not_like", "lt", "within");
  const condition = fc.record({ column: columns, operator: operators, value: fc.constant(secret) });
  const list = fc.record({ column: columns, operator: fc.constantFrom("in", "not_in"), value: fc.constant([secret, secret]) });
  const where = fc.array(
    fc.oneof(
      condition,
      list,
      fc.array(fc.array(condition), { minLength: 1 }).map((any) => ({ any })),
    ),
  ) as fc.Arbitrary<never>;
  fc.assert(
    fc.property(where, anyWhere, (hostile, others) => {
      const { text } = textOf([...(hostile as Where), ...(others as Where)]);
      assert.ok(!text.includes("n0t") && !text.includes("'") && !text.includes("\\"), text);
      // Parentheses are closed where they were opened, so AND holds for every part.
      let depth = 0;
      for (const char of text) depth += char === "(" ? 1 : char === ")" ? -1 : 0;
      assert.equal(depth, 0);
    }),
  );
});

test("long lists are bound in parts", () => {
  const { text, params } = textOf([{ column: "zone_id", operator: "in", value: Array.from({ length: 2_500 }, (_, i) => `${i}`) }]);
  assert.equal(text, "(zone_id IN {p0:Array(String)} OR zone_id IN {p1:Array(String)} OR zone_id IN {p2:Array(String)})");
  assert.deepEqual(
    Object.values(params).map((value) => (value as readonly string[]).length),
    [1_000, 1_000, 500],
  );
});

test("a network is the range of its addresses", () => {
  const bounds = (value: string) => Object.values(textOf([{ column: "client_ip", operator: "within", value }]).params);
  assert.deepEqual(bounds("192.0.2.0/25"), ["0000:0000:0000:0000:0000:ffff:c000:0200", "0000:0000:0000:0000:0000:ffff:c000:027f"]);
  assert.deepEqual(bounds("2001:db8::/29"), ["2001:0db8:0000:0000:0000:0000:0000:0000", "2001:0dbf:ffff:ffff:ffff:ffff:ffff:ffff"]);
  assert.deepEqual(
    bounds("192.0.2.7").map((address) => String(address).slice(-9)),
    ["c000:0207", "c000:0207"],
  );
  assert.equal(textOf([{ column: "client_ip", operator: "within", value: "'" }]).text, "0");
});

test("groups weigh rows that stand for several, and refuse unknown columns", () => {
  const query = { where: [], by: [{ column: "query_type" }], order: [{ by: "count", direction: "desc" }], limit: 5 } as const;
  assert.equal(
    groupStatement("dns_queries", { ...query, measures: [{ kind: "sum", column: "query_bytes" }] }).sql,
    "SELECT * FROM (SELECT sum(sample_interval) AS n, query_type AS d0, ifNull(sum(query_bytes * sample_interval), 0) AS m0 FROM selvedge_dns_queries WHERE 1 GROUP BY d0) ORDER BY n DESC NULLS LAST LIMIT {p0:UInt64}",
  );
  assert.throws(() => groupStatement("requests", { ...query, by: [{ column: "x); DROP TABLE y" as never }], measures: [] }), /no column/);
});

test("tables have a partition for each day, the order of zone and time, and every column that is inserted", () => {
  const create = schemaStatements().find((sql) => sql.startsWith("CREATE TABLE IF NOT EXISTS selvedge_requests"))!;
  assert.match(
    create,
    /PARTITION BY intDiv\(at_ms, 86400000\) ORDER BY \(zone_id, at_ms, row_id\) SETTINGS non_replicated_deduplication_window = 10000$/,
  );
  for (const column of insertedColumns("requests")) assert.ok(create.includes(`${column} `), column);
});
