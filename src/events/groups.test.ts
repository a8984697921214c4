import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { anyRequest, counted, holds, HOUR_MS, START_MS } from "../../test/support/any-requests.ts";
import { fc } from "../../test/support/property.ts";
import { openEventDatabase } from "#events/database/database.ts";
import type { GroupQuery } from "#events/sql/group-query.ts";
import { openEventQueries } from "#events/read/queries.ts";
import type { SecurityEventRow } from "#events/rows/rows.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import type { Where } from "#events/sql/where-sql.ts";

const SEED = 20_261_122;

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
