import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { fc } from "../../test/support/property.ts";
import { openEventDatabase } from "#events/database/database.ts";
import type { GroupQuery } from "#events/sql/group-query.ts";
import { openEventQueries } from "#events/read/queries.ts";
import type { RequestRow, SecurityEventRow } from "#events/rows/rows.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import type { Condition, Where } from "#events/sql/where-sql.ts";

const SEED = 20_261_122;
const HOUR_MS = 3_600_000;
const START_MS = 486_111 * HOUR_MS;

function setUp(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-groups-"));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path);
  const queries = openEventQueries(path);
  t.after(() => {
    queries.close();
    database.close();
    rmSync(directory, { recursive: true });
  });
  return { path, database, queries };
}

const moment = fc.integer({ min: START_MS, max: START_MS + 5 * HOUR_MS });

const anyRequest: fc.Arbitrary<RequestRow> = fc
  .record({
    at_ms: moment,
    zone_id: fc.constantFrom("zone-a", "zone-b"),
    account_id: fc.constant("account"),
    host: fc.constantFrom("www.a.example", "api.a.example"),
    path: fc.constantFrom("/", "/login", "/100%_x"),
    client_ip: fc.constantFrom("192.0.2.7", "192.0.2.200", "198.51.100.1", "2001:db8::7"),
    cache_status: fc.constantFrom("", "hit", "miss"),
    method: fc.constantFrom("GET", "POST"),
    status: fc.constantFrom(200, 404, 502),
    bytes_out: fc.nat(1000),
    duration_ms: fc.nat(50),
  })
  .map((changes) => testRequestRow(changes));

const texts = (column: keyof RequestRow & string, ...values: string[]): fc.Arbitrary<Condition<"requests">> =>
  fc.oneof(
    fc.record({ column: fc.constant(column), operator: fc.constantFrom("eq", "ne", "has"), value: fc.constantFrom(...values) }),
    fc.record({
      column: fc.constant(column),
      operator: fc.constantFrom("like", "not_like"),
      value: fc.constantFrom("%A%", "/l_gin", "GET"),
    }),
    fc.record({ column: fc.constant(column), operator: fc.constantFrom("in", "not_in"), value: fc.subarray(values, { minLength: 1 }) }),
  ) as fc.Arbitrary<Condition<"requests">>;

const anyCondition: fc.Arbitrary<Condition<"requests">> = fc.oneof(
  texts("method", "GET", "POST"),
  texts("host", "www.a.example", "api.a.example"),
  texts("path", "/login", "/100%_x"),
  texts("cache_status", "hit", "miss", ""),
  fc.record({
    column: fc.constant("status"),
    operator: fc.constantFrom("eq", "ne", "ge", "gt", "lt", "le"),
    value: fc.constantFrom(200, 404),
  }),
  fc.record({
    column: fc.constant("at_ms"),
    operator: fc.constantFrom("ge", "gt", "lt", "le"),
    value: fc.oneof(
      moment,
      fc.nat(5).map((hour) => START_MS + hour * HOUR_MS),
      fc.nat(300).map((minute) => START_MS + minute * 60_000),
    ),
  }),
  fc.record({
    column: fc.constant("client_ip"),
    operator: fc.constant("within"),
    value: fc.constantFrom("192.0.2.0/25", "192.0.2.7", "2001:db8::/32", "0.0.0.0/0", "::/0"),
  }),
) as fc.Arbitrary<Condition<"requests">>;

const anyWhere: fc.Arbitrary<Where<"requests">> = fc
  .record({
    zone: fc.option(fc.constantFrom("zone-a", "zone-b", "zone-c")),
    from: fc.option(moment),
    to: fc.option(moment),
    others: fc.array(anyCondition, { maxLength: 2 }),
    any: fc.option(fc.array(fc.array(anyCondition, { maxLength: 2 }), { maxLength: 3 }), { freq: 3 }),
  })
  .map(({ zone, from, to, others, any }) => [
    ...(zone === null ? [] : [{ column: "zone_id", operator: "eq", value: zone } as const]),
    ...(from === null ? [] : [{ column: "at_ms", operator: "ge", value: from } as const]),
    ...(to === null ? [] : [{ column: "at_ms", operator: "lt", value: to } as const]),
    ...others,
    ...(any === null ? [] : [{ any }]),
  ]);

/** The same conditions, told by hand. */
function holds(row: RequestRow, where: Where<"requests">): boolean {
  return where.every((part) => {
    if ("any" in part) return part.any.some((inner) => holds(row, inner));
    return "column" in part ? fits(row, part) : part.some((condition) => fits(row, condition));
  });
}

function fits(row: RequestRow, { column, operator, value }: Condition<"requests">): boolean {
  const cell = row[column] as number;
  const pattern = (): boolean =>
    new RegExp(
      `^${String(value)
        .replaceAll(/[.*+?^$()[\]\\{}|]/g, "\\$&")
        .replaceAll("%", ".*")
        .replaceAll("_", ".")}$`,
      "is",
    ).test(String(cell));
  switch (operator) {
    case "eq":
      return (cell as unknown) === value;
    case "ne":
      return (cell as unknown) !== value;
    case "lt":
      return cell < (value as number);
    case "le":
      return cell <= (value as number);
    case "gt":
      return cell > (value as number);
    case "ge":
      return cell >= (value as number);
    case "in":
      return (value as string[]).includes(String(cell));
    case "not_in":
      return !(value as string[]).includes(String(cell));
    case "has":
      return String(cell).includes(String(value));
    case "like":
      return pattern();
    case "not_like":
      return !pattern();
    case "within":
      return NETWORKS[String(value)]!(String(cell));
  }
}

const NETWORKS: Readonly<Record<string, (address: string) => boolean>> = {
  "192.0.2.0/25": (address) => address === "192.0.2.7",
  "192.0.2.7": (address) => address === "192.0.2.7",
  "2001:db8::/32": (address) => address.startsWith("2001:"),
  "0.0.0.0/0": (address) => address.includes("."),
  "::/0": (address) => address.includes(":"),
};

const anyQuery: fc.Arbitrary<GroupQuery<"requests">> = fc.record({
  where: anyWhere,
  by: fc.subarray<GroupQuery<"requests">["by"][number]>([
    { column: "cache_status" },
    { column: "status" },
    { column: "host" },
    { column: "zone_id" },
    { column: "at_ms", intervalMs: 60_000 },
    { column: "at_ms", intervalMs: HOUR_MS },
  ]),
  measures: fc.subarray<GroupQuery<"requests">["measures"][number]>([
    { kind: "sum", column: "bytes_out" },
    { kind: "unique", column: "client_ip" },
    { kind: 50, column: "duration_ms" },
  ]),
  order: fc.constant([]),
  limit: fc.constant(10_000),
});

/** Groups by key, as the rows themselves have them. */
function counted(rows: readonly RequestRow[], { where, by, measures }: GroupQuery<"requests">): Map<string, readonly number[]> {
  const groups = Map.groupBy(
    rows.filter((row) => holds(row, where)),
    (row) =>
      JSON.stringify(
        by.map(({ column, intervalMs }) =>
          intervalMs === undefined ? row[column] : Math.floor(Number(row[column]) / intervalMs) * intervalMs,
        ),
      ),
  );
  return new Map(
    Array.from(groups, ([key, members]) => [
      key,
      [
        members.length,
        ...measures.map(({ kind, column }) => {
          const values = members.map((row) => row[column] as number);
          if (kind === "sum") return values.reduce((sum, value) => sum + value, 0);
          return kind === "unique" ? new Set(values).size : middle(values);
        }),
      ],
    ]),
  );
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) return 0;
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}

test("property: groups from roll-ups and rows equal those from rows alone", (t) => {
  const { database, queries } = setUp(t);
  const rows = fc.sample(anyRequest, { seed: SEED, numRuns: 700 });
  for (let at = 0; at < rows.length; at += 100) database.insert([packed("requests", rows.slice(at, at + 100))]);
  fc.assert(
    fc.property(anyQuery, (query) => {
      const groups = queries
        .groups("requests", query)
        .map(({ count, dimensions, measures }) => [JSON.stringify(dimensions), [count, ...measures]] as const);
      assert.deepEqual(new Map(groups.toSorted()), new Map([...counted(rows, query)].toSorted()));
    }),
    { numRuns: 400 },
  );
});

test("property: groups are returned in the requested order", (t) => {
  const { database, queries } = setUp(t);
  const rows = fc.sample(anyRequest, { seed: SEED, numRuns: 300 });
  database.insert([packed("requests", rows)]);
  const measures = [{ kind: "sum", column: "duration_ms" }] as const;
  const orders = fc.constantFrom<GroupQuery["order"][number]["by"]>("count", 0, { measure: 0 }, { measure: 0, isPerRow: true });
  fc.assert(
    fc.property(orders, fc.boolean(), fc.constantFrom<[] | ["unique"]>([], ["unique"]), (by, isDescending, each) => {
      const asked = [...measures, ...each.map((kind) => ({ kind, column: "client_ip" }) as const)];
      const order = [{ by, direction: isDescending ? "desc" : "asc" } as const];
      const query = { where: [], by: [{ column: "at_ms", intervalMs: 600_000 }], measures: asked, order, limit: 100 } as const;
      const values = queries.groups("requests", query).map(({ count, dimensions: [time], measures: [sum = 0] }) => {
        if (by === "count") return count;
        if (by === 0) return Number(time);
        return typeof by === "object" && by.isPerRow ? sum / count : sum;
      });
      assert.deepEqual(
        values,
        values.toSorted((a, b) => (isDescending ? b - a : a - b)),
      );
      assert.ok(values.length > 20);
    }),
    { numRuns: 20 },
  );
});

test("property: pages by cursor contain every matching row once, newest first", (t) => {
  const { database, queries } = setUp(t);
  // Few moments, so that pages end among rows of one time.
  const rows = fc.sample(anyRequest, { seed: SEED, numRuns: 300 }).map((row, i) => ({ ...row, at_ms: START_MS + (i % 7), ray_id: `${i}` }));
  database.insert([packed("requests", rows)]);
  fc.assert(
    fc.property(anyWhere, fc.integer({ min: 1, max: 50 }), (where, limit) => {
      const found: string[] = [];
      let after: { at_ms: number; row_id: number } | undefined;
      for (let pages = 0; pages < 400; pages++) {
        const page = queries.page("requests", { where, after, limit });
        found.push(...page.rows.map((row) => row.ray_id));
        if (!page.hasMore || page.last === null) break;
        after = page.last;
      }
      const expected = rows.filter((row) => holds(row, where)).toSorted((a, b) => b.at_ms - a.at_ms || Number(b.ray_id) - Number(a.ray_id));
      assert.deepEqual(
        found,
        expected.map((row) => row.ray_id),
      );
    }),
    { numRuns: 100 },
  );
});

test("counts remain after their rows are deleted", (t) => {
  const { database, queries } = setUp(t);
  database.insert([
    packed(
      "security_events",
      [0, 1, 2].map((n) => testSecurityRow({ at_ms: START_MS + n * HOUR_MS, rule_id: `rule-${n % 2}` })),
    ),
  ]);
  const byRule: GroupQuery<"security_events"> = {
    where: [{ column: "zone_id", operator: "eq", value: "zone" }],
    by: [{ column: "rule_id" }],
    measures: [],
    order: [{ by: "count", direction: "desc" }],
    limit: 10,
  };
  const before = queries.groups("security_events", byRule);
  assert.deepEqual(
    before.map(({ count, dimensions }) => [count, ...dimensions]),
    [
      [2, "rule-0"],
      [1, "rule-1"],
    ],
  );
  assert.equal(database.deleteBefore(START_MS + 10 * HOUR_MS, 100), 3);
  assert.deepEqual(queries.groups("security_events", byRule), before);
  assert.ok(database.deleteCountsBefore("minutes", START_MS + 10 * HOUR_MS, 100) > 0);
  assert.deepEqual(queries.groups("security_events", byRule), before, "hours are kept longer than minutes");
  database.deleteCountsBefore("hours", START_MS + HOUR_MS, 100);
  assert.deepEqual(
    queries.groups("security_events", byRule).map(({ count }) => count),
    [1, 1],
  );
});

test("rows remain after the counts of their minutes are deleted, and are counted there", (t) => {
  const { database, queries } = setUp(t);
  const rows = fc.sample(anyRequest, { numRuns: 600, seed: SEED });
  // Some lie in blocks.
  database.insert([packed("requests", rows.slice(0, 500))]);
  for (const row of rows.slice(500)) database.insert([packed("requests", [row])]);
  const inZone = { column: "zone_id", operator: "eq", value: "zone-a" } as const;
  const count = (fromMs: number, toMs: number, intervalMs?: number) =>
    queries.groups("requests", {
      where: [inZone, { column: "at_ms", operator: "ge", value: fromMs }, { column: "at_ms", operator: "lt", value: toMs }],
      by: intervalMs === undefined ? [] : [{ column: "at_ms", intervalMs }],
      measures: [{ kind: "sum", column: "bytes_out" }],
      order: [],
      limit: 1000,
    });
  const questions: readonly (readonly [fromMs: number, toMs: number, intervalMs?: number])[] = [
    [START_MS + 61_000, START_MS + 4 * HOUR_MS + 500],
    [START_MS + 10 * 60_000, START_MS + 50 * 60_000],
    [START_MS, START_MS + 5 * HOUR_MS],
    [START_MS, START_MS + 5 * HOUR_MS, 60_000],
    [0, START_MS + HOUR_MS + 1],
  ];
  const before = questions.map((question) => count(...question));
  assert.equal(before[2]![0]!.count, rows.filter((row) => row.zone_id === "zone-a" && row.at_ms < START_MS + 5 * HOUR_MS).length);
  for (const hours of [1, 2.5, 4, 10]) {
    while (database.deleteCountsBefore("minutes", START_MS + hours * HOUR_MS, 50) > 0);
    for (const [i, question] of questions.entries()) assert.deepEqual(count(...question), before[i], `${hours} ${question.join()}`);
  }
  while (database.deleteCountsBefore("hours", START_MS + 3 * HOUR_MS, 50) > 0);
  for (const [i, question] of questions.entries()) assert.deepEqual(count(...question), before[i], question.join());
});

test("property: alternative time ranges are counted without reading rows", (t) => {
  const { database, queries } = setUp(t);
  const rows = fc.sample(anyRequest, { seed: SEED, numRuns: 400 });
  database.insert([packed("requests", rows)]);
  const within = (from: number, to: number): Where<"requests"> => [
    { column: "at_ms", operator: "ge", value: START_MS + from },
    { column: "at_ms", operator: "lt", value: START_MS + to },
  ];
  const minutes = Array.from({ length: 40 }, (_, n) => within(n * 180_000, n * 180_000 + 60_000));
  const asked: readonly Where<"requests">[] = [
    [{ any: [within(0, HOUR_MS), within(3 * HOUR_MS, 4 * HOUR_MS)] }],
    [{ any: [[...within(0, 2 * HOUR_MS), { column: "status", operator: "eq", value: 200 }], within(HOUR_MS, HOUR_MS + 60_000)] }],
    [{ any: minutes }],
  ];
  const groups = (where: Where<"requests">) =>
    queries.groups("requests", {
      where,
      by: [{ column: "status" }],
      measures: [{ kind: "sum", column: "bytes_out" }],
      order: [],
      limit: 10,
    });
  const before = asked.map(groups);
  assert.deepEqual(
    before.map((found) => found.reduce((sum, { count }) => sum + count, 0)),
    asked.map((where) => rows.filter((row) => holds(row, where)).length),
  );
  database.deleteBefore(START_MS + 10 * HOUR_MS, 1000);
  assert.deepEqual(asked.map(groups), before);
});

test("a roll-up that was added later leaves earlier times to the rows", (t) => {
  const { path, database, queries } = setUp(t);
  const rows = fc.sample(anyRequest, { seed: SEED, numRuns: 200 });
  database.insert([packed("requests", rows)]);
  const older = new DatabaseSync(path);
  older.exec("DELETE FROM rollups; DROP TABLE requests_minutes; DROP TABLE requests_hours");
  older.close();
  const later = openEventDatabase(path);
  t.after(() => later.close());
  const last = Math.max(...rows.map((row) => row.at_ms));
  const more = [1, 2, 500_000, 4_000_000].map((ms) => testRequestRow({ at_ms: last + ms }));
  later.insert([packed("requests", more)]);
  const query: GroupQuery<"requests"> = {
    where: [],
    by: [{ column: "status" }],
    measures: [{ kind: "sum", column: "bytes_out" }],
    order: [],
    limit: 100,
  };
  const groups = queries
    .groups("requests", query)
    .map(({ count, dimensions, measures }) => [JSON.stringify(dimensions), [count, ...measures]] as const);
  assert.deepEqual(new Map(groups.toSorted()), new Map([...counted([...rows, ...more], query)].toSorted()));
});

test("a combination is deleted once no row uses it, and gets a new number when it returns", (t) => {
  const { path, database, queries } = setUp(t);
  const day = 24 * HOUR_MS;
  const at = (ms: number, host: string): SecurityEventRow => testSecurityRow({ at_ms: ms, host });
  database.insert([packed("security_events", [at(START_MS, "old.example.com"), at(START_MS + 9 * day, "new.example.com")])]);
  // The writer records the day of its clock, which differs from that of these rows.
  const db = new DatabaseSync(path);
  db.exec(`UPDATE facet_host SET used_day = ${Math.floor(START_MS / day)} WHERE host = 'old.example.com'`);
  db.close();
  assert.equal(database.deleteUnusedFacets(100), 0);
  database.deleteBefore(START_MS + day, 100);
  assert.equal(database.deleteUnusedFacets(100), 1);
  database.insert([packed("security_events", [at(START_MS + 10 * day, "old.example.com")])]);
  assert.deepEqual(
    queries
      .list("security_events", { where: [{ column: "host", operator: "eq", value: "old.example.com" }], limit: 10 })
      .map((row) => row.at_ms),
    [START_MS + 10 * day],
  );
});

test("the numbers of a failed batch are not reused", (t) => {
  const { database, queries } = setUp(t);
  const bad = [testSecurityRow({ host: "first.example.com" }), testSecurityRow({ at_ms: Number.NaN })];
  assert.throws(() => database.insert([packed("security_events", bad)]));
  database.insert([packed("security_events", [testSecurityRow({ host: "second.example.com" })])]);
  database.insert([packed("security_events", [testSecurityRow({ host: "first.example.com" })])]);
  assert.deepEqual(
    queries.list("security_events", { where: [], direction: "asc", limit: 10 }).map(({ host }) => host),
    ["second.example.com", "first.example.com"],
  );
});
