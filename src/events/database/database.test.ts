import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { openEventDatabase } from "./database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { retentionStep } from "#events/retention/retention.ts";
import { packed, packedRequests, testGatewayRow, testRequestEvent, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";

async function temporaryPath(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-events-"));
  t.after(() => rm(directory, { recursive: true }));
  return join(directory, "events.db");
}

test("rows of every table are read back unchanged", async (t) => {
  const path = await temporaryPath(t);
  const database = openEventDatabase(path);
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const requests = [testRequestRow(), testRequestRow({ origin_status: 502, path: "/ü'\"" })];
  const events = [testSecurityRow({ scan_limited: true })];
  const logs = [testGatewayRow(), testGatewayRow({ success: false, cached: true, tokens_in: null, cost: null })];
  database.insert([packed("requests", requests), packed("security_events", events), packed("gateway_logs", logs)]);
  const query = { where: [], direction: "asc", limit: 10 } as const;
  assert.deepEqual(queries.list("requests", query), requests);
  assert.deepEqual(queries.list("security_events", query), events);
  assert.deepEqual(queries.list("gateway_logs", query), logs);
});

test("the database stores events of requests beside their requests, a few as rows and many in blocks", async (t) => {
  for (const count of [3, 300]) {
    const path = await temporaryPath(t);
    const database = openEventDatabase(path);
    t.after(() => database.close());
    const queries = openEventQueries(path);
    t.after(() => queries.close());
    const requests = Array.from({ length: count }, (_, n) => testRequestRow({ ray_id: `ray-${n}`, at_ms: 1_000 + n, path: `/${n % 7}` }));
    const events = [testRequestEvent(), testRequestEvent({ rule_id: "other", action: "block" })];
    const isLogged = (n: number): boolean => n % 3 === 0;
    database.insert([packedRequests(requests.map((row, n) => [row, isLogged(n) ? events : []]))]);
    const query = { where: [], direction: "asc", limit: 1_000 } as const;
    assert.deepEqual(queries.list("requests", query), requests);
    assert.deepEqual(
      queries
        .list("security_events", query)
        .map(({ ray_id, at_ms, path: text, rule_id, action }) => [ray_id, at_ms, text, rule_id, action]),
      requests
        .filter((_, n) => isLogged(n))
        .flatMap(({ ray_id, at_ms, path: text }) => [
          [ray_id, at_ms, text, "rule", "log"],
          [ray_id, at_ms, text, "other", "block"],
        ]),
    );
    assert.equal(queries.count("security_events", [{ column: "rule_id", operator: "eq", value: "other" }]), count / 3);
  }
});

test("an optional field that is absent reads as false", async (t) => {
  const path = await temporaryPath(t);
  const database = openEventDatabase(path);
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const { scan_limited: _, ...row } = testSecurityRow();
  database.insert([packed("security_events", [row])]);
  assert.equal(queries.list("security_events", { where: [], limit: 1 })[0]?.scan_limited, false);
});

test("queries filter, order, page and count rows", async (t) => {
  const path = await temporaryPath(t);
  const database = openEventDatabase(path);
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const rows = Array.from({ length: 10 }, (_, n) =>
    testRequestRow({ ray_id: String(n), at_ms: 1000 + Math.floor(n / 2), status: n % 3 === 0 ? 500 : 200, host: `h${n}` }),
  );
  database.insert([packed("requests", rows)]);
  const rays = (query: Parameters<typeof queries.list<"requests">>[1]): string =>
    queries
      .list("requests", query)
      .map((row) => row.ray_id)
      .join("");
  assert.equal(rays({ where: [], limit: 100 }), "9876543210", "newest first; those of one time by arrival");
  assert.equal(rays({ where: [], limit: 3, offset: 2 }), "765");
  assert.equal(rays({ where: [], limit: 3, offset: 20 }), "");
  assert.equal(rays({ where: [], direction: "asc", limit: 3 }), "012");
  assert.equal(rays({ where: [{ column: "status", operator: "eq", value: 500 }], limit: 100 }), "9630");
  assert.equal(
    rays({
      where: [
        { column: "at_ms", operator: "ge", value: 1003 },
        { column: "at_ms", operator: "lt", value: 1004 },
      ],
      limit: 100,
    }),
    "76",
  );
  assert.equal(
    rays({
      where: [
        [
          { column: "host", operator: "eq", value: "h1" },
          { column: "ray_id", operator: "in", value: ["3", "5"] },
        ],
      ],
      limit: 100,
    }),
    "531",
  );
  assert.equal(rays({ where: [{ column: "host", operator: "has", value: "7" }], limit: 100 }), "7");
  assert.equal(rays({ where: [[]], limit: 100 }), "", "no alternative holds");
  assert.equal(queries.count("requests", [{ column: "status", operator: "ne", value: 500 }]), 6);
});

test("a database that is missing or empty has no rows, and is used once it exists", async (t) => {
  const path = await temporaryPath(t);
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  assert.deepEqual(queries.list("requests", { where: [], limit: 10 }), []);
  assert.equal(queries.count("requests", []), 0);
  await writeFile(path, "");
  assert.equal(queries.count("requests", []), 0);
  const database = openEventDatabase(path);
  t.after(() => database.close());
  database.insert([packed("requests", [testRequestRow()])]);
  assert.equal(queries.count("requests", []), 1);
});

test("a failed batch leaves nothing, and the next one is written", async (t) => {
  const path = await temporaryPath(t);
  const database = openEventDatabase(path);
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const bad = packed("security_events", [testSecurityRow({ at_ms: Number.NaN, host: "new.example.com" })]);
  assert.throws(() => database.insert([packed("requests", [testRequestRow()]), bad]));
  assert.equal(queries.count("requests", []), 0);
  database.insert([packed("requests", [testRequestRow()])]);
  assert.equal(queries.count("requests", []), 1);
});

test("the program refuses a database of another version", async (t) => {
  const path = await temporaryPath(t);
  const other = new DatabaseSync(path);
  other.exec("PRAGMA user_version = 99");
  other.close();
  assert.throws(() => openEventDatabase(path), /schema version 99/);
});

test("retention deletes by age, then by size from the largest table, in bounded steps", async (t) => {
  const path = await temporaryPath(t);
  const database = openEventDatabase(path);
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const rows = (count: number, at_ms: number) =>
    packed(
      "requests",
      Array.from({ length: count }, (_, n) => testRequestRow({ at_ms, path: `/${n}`.padEnd(200, "x") })),
    );
  database.insert([
    ...Array.from({ length: 6 }, () => rows(1000, 1000)),
    ...Array.from({ length: 120 }, () => rows(50, 5000)),
    ...Array.from({ length: 6 }, () => rows(1000, 5000)),
    packed("security_events", [testSecurityRow({ at_ms: 1000 }), testSecurityRow({ at_ms: 5000 })]),
  ]);
  const settle = (limits: { ageMs: number; bytes: number }): number => {
    let steps = 1;
    while (retentionStep(database, limits, 10_000)) assert.ok(++steps < 100, "retention comes to an end");
    return steps;
  };
  const before = database.usedBytes();
  assert.equal(settle({ ageMs: 9001, bytes: before }), 1, "nothing is too old or too much");
  assert.ok(settle({ ageMs: 6000, bytes: before }) > 1);
  assert.deepEqual([queries.count("requests", []), queries.count("security_events", [])], [12_000, 1]);
  settle({ ageMs: 6000, bytes: before / 3 });
  assert.ok(database.usedBytes() <= before / 3);
  assert.ok(queries.count("requests", []) < 12_000);
  assert.equal(queries.count("security_events", []), 1, "requests gave way, the security event stayed");
});

test("rows with a time in the future do not delay the deletion of others, and are deleted with later arrivals", async (t) => {
  const FUTURE_MS = Date.now() + 30 * 86_400_000;
  // Single rows, and rows in blocks.
  for (const size of [20, 100]) {
    const path = await temporaryPath(t);
    const database = openEventDatabase(path);
    t.after(() => database.close());
    const queries = openEventQueries(path);
    t.after(() => queries.close());
    const insert = (batches: number, timeOf: (batch: number, row: number) => number): void => {
      for (let batch = 0; batch < batches; batch++)
        database.insert([
          packed(
            "requests",
            Array.from({ length: size }, (_, row) => testRequestRow({ at_ms: timeOf(batch, row), host: `${row}.example` })),
          ),
        ]);
    };
    const count = (): number => queries.count("requests", []);
    const settle = (atMs: number): void => {
      for (let steps = 0; database.deleteBefore(atMs, 500) > 0; steps++) assert.ok(steps < 500, "it comes to an end");
    };
    insert(1, (_, row) => (row === 0 ? FUTURE_MS : 1000));
    insert(120, () => FUTURE_MS);
    insert(300, (batch) => 2000 + batch);
    settle(2150);
    assert.equal(count(), 150 * size, "the others have gone, and those that came before them");
    insert(1, () => FUTURE_MS);
    settle(2200);
    database.deleteUnusedFacets(1000);
    assert.equal(count(), 101 * size, "what came last stays until something after it goes");
    const hosts = queries.list("requests", { where: [], limit: 5000 }).map(({ host }) => host);
    assert.equal(new Set(hosts).size, size, "names that are in use stay");
    settle(10_000);
    assert.equal(count(), size);
    insert(2, () => 10_000);
    settle(10_001);
    assert.equal(count(), 0);
  }
});

test("names that clients invent cannot fill a database: beyond the limit they share one name, until there is space again", async (t) => {
  const [hour, day] = [3_600_000, 86_400_000];
  // Single rows, and rows in blocks.
  for (const size of [20, 100]) {
    const path = await temporaryPath(t);
    let nowMs = 100 * day;
    const open = () => openEventDatabase(path, () => nowMs, 10);
    let database = open();
    t.after(() => database.close());
    const queries = openEventQueries(path);
    t.after(() => queries.close());
    const rowsOf = (user_agent: string, method: string) =>
      Array.from({ length: size }, (_, row) =>
        testRequestRow({ at_ms: nowMs, user_agent: user_agent.replace("N", String(row)), method: method.replace("N", String(row)) }),
      );
    const insert = (user_agent: string, method: string): void => database.insert([packed("requests", rowsOf(user_agent, method))]);
    const counted = (column: "user_agent" | "method"): ReadonlyMap<string, number> =>
      new Map(
        queries
          .groups("requests", { where: [], by: [{ column }], measures: [], order: [], limit: 1000 })
          .map(({ dimensions: [text], count }) => [String(text), count]),
      );
    insert("honest", "GET");
    insert("flood N", "FLOOD-N");
    database.close();
    database = open();
    insert("flood again N", "AGAIN-N");
    insert("honest", "GET");
    for (const [column, honest] of [
      ["user_agent", "honest"],
      ["method", "GET"],
    ] as const) {
      const counts = counted(column);
      assert.equal(counts.size, 6, "half of the places, and what stands for the others");
      assert.equal(counts.get(honest), 2 * size, "what was known before keeps its name");
      assert.equal(counts.get("[other]"), 2 * size - 4, "no row is lost");
    }
    const file = new DatabaseSync(path, { readOnly: true });
    assert.equal(file.prepare("SELECT COUNT(*) AS names FROM facet_agent").get()?.["names"], 6);
    file.close();
    nowMs += 10 * day;
    while (retentionStep(database, { ageMs: hour, bytes: Infinity }, nowMs));
    insert("late", "GET");
    while (retentionStep(database, { ageMs: hour, bytes: Infinity }, nowMs));
    while (database.deleteUnusedFacets(1000) > 0);
    insert("new N", "GET");
    assert.equal(counted("user_agent").get("new 0"), 1, "room has come again");
  }
});

test("sites that flood the names leave space for others, whatever their number and owners", async (t) => {
  const path = await temporaryPath(t);
  const places = 100;
  const open = () => openEventDatabase(path, () => DAY, places);
  let database = open();
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const flood = (account_id: string, zone_id: string): void =>
    database.insert([
      packed(
        "requests",
        Array.from({ length: 2 * places }, (_, n) => testRequestRow({ at_ms: DAY, account_id, zone_id, user_agent: `${zone_id} ${n}` })),
      ),
    ]);
  const namesOf = (zone_id: string): number =>
    new Set(
      queries
        .list("requests", { where: [{ column: "zone_id", operator: "eq", value: zone_id }], limit: 1000 })
        .map((row) => row.user_agent),
    ).size - 1;
  flood("one", "a");
  assert.equal(namesOf("a"), 50);
  // The state is read from the file.
  database.close();
  database = open();
  flood("one", "b");
  assert.deepEqual([namesOf("a"), namesOf("b")], [50, 16], "of one account, two sites have no more than twice what is left");
  flood("two", "c");
  assert.equal(namesOf("c"), 17);
  // A name that was refused to one is not refused to the next.
  database.insert([packed("requests", [testRequestRow({ at_ms: DAY, account_id: "quiet", zone_id: "quiet", user_agent: "a 150" })])]);
  assert.equal(queries.count("requests", [{ column: "user_agent", operator: "eq", value: "a 150" }]), 1);
});

test("names with a time in the future are deleted with their rows", async (t) => {
  const path = await temporaryPath(t);
  let nowMs = 500 * DAY;
  const database = openEventDatabase(path, () => nowMs);
  t.after(() => database.close());
  const settle = (): void => {
    while (retentionStep(database, { ageMs: DAY, bytes: Infinity }, nowMs));
    while (database.deleteUnusedFacets(2) > 0);
  };
  database.insert([
    packed("requests", [testRequestRow({ at_ms: nowMs, user_agent: "ahead" }), testRequestRow({ at_ms: nowMs, user_agent: "too" })]),
  ]);
  settle();
  nowMs = 100 * DAY;
  for (let day = 0; day < 6; day++, nowMs += DAY) {
    database.insert([packed("requests", [testRequestRow({ at_ms: nowMs, user_agent: `${day}` })])]);
    settle();
  }
  const file = new DatabaseSync(path, { readOnly: true });
  t.after(() => file.close());
  const names = file
    .prepare("SELECT user_agent FROM facet_agent")
    .all()
    .map((row) => row["user_agent"]);
  assert.ok(!names.includes("ahead") && !names.includes("too"), String(names));
  assert.ok(!names.includes("0") && names.includes("5"), String(names));
});

test("counts have a limited number of the names that clients invent, and include all rows", async (t) => {
  const path = await temporaryPath(t);
  const open = () => openEventDatabase(path, () => DAY);
  let database = open();
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const rows = (zone_id: string, methods: number, from = 0) =>
    packed(
      "requests",
      Array.from({ length: methods }, (_, n) =>
        testRequestRow({ at_ms: DAY, zone_id, method: `M${from + n}`, content_type: n % 2 === 0 ? "" : "a/b" }),
      ),
    );
  database.insert([rows("zone", 200)]);
  // The second time it is told by the file.
  database.close();
  database = open();
  database.insert([rows("zone", 400, 100), rows("quiet", 3)]);
  database.insert([rows("zone", 400, 100)]);
  const counted = (zone_id: string, by: "method" | "content_type"): Map<string, number> =>
    new Map(
      queries
        .groups("requests", {
          where: [{ column: "zone_id", operator: "eq", value: zone_id }],
          by: [{ column: by }],
          measures: [],
          order: [],
          limit: 1000,
        })
        .map(({ dimensions: [text], count }) => [String(text), count]),
    );
  const methods = counted("zone", "method");
  assert.equal(methods.size, 301);
  assert.equal(methods.get("[other]"), 400);
  assert.equal(
    methods.values().reduce((sum, count) => sum + count, 0),
    1000,
  );
  assert.equal(counted("quiet", "method").size, 3);
  assert.equal(queries.count("requests", [{ column: "method", operator: "eq", value: "M499" }]), 2, "rows keep their names");
});

const DAY = 86_400_000;

test("a file without a newer column gets it, and its rows have the column's zero value", async (t) => {
  const path = await temporaryPath(t);
  const first = openEventDatabase(path);
  first.insert([packed("requests", [testRequestRow()])]);
  first.close();
  const older = new DatabaseSync(path);
  older.exec(
    "ALTER TABLE requests DROP COLUMN bytes_out; ALTER TABLE requests DROP COLUMN query; ALTER TABLE requests DROP COLUMN origin_status",
  );
  older.close();
  const database = openEventDatabase(path);
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  database.insert([packed("requests", [testRequestRow({ origin_status: 201 })])]);
  assert.deepEqual(queries.list("requests", { where: [], direction: "asc", limit: 2 }), [
    testRequestRow({ bytes_out: 0, query: "", origin_status: null }),
    testRequestRow({ origin_status: 201 }),
  ]);
});
