import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { type EventDatabase, openEventDatabase } from "#events/database/database.ts";
import type { GroupQuery } from "#events/sql/group-query.ts";
import { type EventQueries, openEventQueries } from "#events/read/queries.ts";
import type { RequestRow } from "#events/rows/rows.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import type { Condition, Where } from "#events/sql/where-sql.ts";
import { fc } from "../../../test/support/property.ts";
import { blockGroups } from "./block-groups.ts";
import { BLOCK_ROWS_MIN } from "./block-tables.ts";

const START_MS = 486_111 * 3_600_000;
const MINUTE_MS = 60_000;

interface Store {
  readonly path: string;
  readonly database: EventDatabase;
  readonly queries: EventQueries;
}

function openStore(t: TestContext, nowMs?: () => number): Store {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-blocks-"));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path, nowMs);
  const queries = openEventQueries(path);
  t.after(() => {
    queries.close();
    database.close();
    rmSync(directory, { recursive: true });
  });
  return { path, database, queries };
}

/** Inserts the rows in batches of these sizes, repeated until all are inserted. */
function insert({ database }: Store, rows: readonly RequestRow[], sizes: readonly number[]): void {
  for (let at = 0, i = 0; at < rows.length; i++) {
    const size = sizes[i % sizes.length]!;
    database.insert([packed("requests", rows.slice(at, at + size))]);
    at += size;
  }
}

const blocksIn = ({ path }: Store, table = "requests_blocks"): number => {
  const db = new DatabaseSync(path, { readOnly: true });
  const { n } = db.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get() as { n: number };
  db.close();
  return n;
};

const moment = fc.integer({ min: START_MS, max: START_MS + 5 * MINUTE_MS });
const PATHS = ["/", "/login", "/LOGIN", "/100%_x", "/\u20ac\ud83d\ude00", "", "/a\u00ff"];

const anyRequest: fc.Arbitrary<RequestRow> = fc
  .record({
    at_ms: fc.oneof({ weight: 4, arbitrary: moment }, { weight: 1, arbitrary: fc.constant(START_MS + MINUTE_MS) }),
    zone_id: fc.constantFrom("zone-a", "zone-b"),
    account_id: fc.constantFrom("account", "other"),
    host: fc.constantFrom("www.a.example", "api.a.example"),
    path: fc.constantFrom(...PATHS),
    query: fc.oneof(fc.constant(""), fc.string({ maxLength: 300 })),
    client_ip: fc.constantFrom("192.0.2.7", "192.0.2.200", "2001:db8::7"),
    cache_status: fc.constantFrom("", "hit"),
    status: fc.constantFrom(200, 404, 502),
    origin_status: fc.constantFrom(null, 200, 503),
    bytes_out: fc.oneof(fc.nat(1000), fc.nat(2 ** 40)),
    bytes_in: fc.nat(200),
    duration_ms: fc.oneof(
      fc.nat(50),
      fc.nat(50_000).map((micros) => micros / 1000),
      fc.double({ min: 0, max: 10, noNaN: true }),
    ),
    custom_fields: fc.constantFrom(null, { cookies: { a: "b" } }),
  })
  .map((changes) => testRequestRow(changes));

const ORDERS = ["eq", "ne", "lt", "le", "gt", "ge"] as const;

const anyCondition = fc.oneof(
  ...(["path", "client_ip", "method", "host", "zone_id"] as const).map((column) =>
    fc.oneof(
      fc.record({
        column: fc.constant(column),
        operator: fc.constantFrom(...ORDERS, "has"),
        value: fc.constantFrom(...PATHS, "zone-a", "GET"),
      }),
      fc.record({
        column: fc.constant(column),
        operator: fc.constantFrom("like", "not_like"),
        value: fc.constantFrom("%A%", "/l_gin", "%", "", "_%", "%/%", "/%n", "%.a.%e", "/_\ud83d\ude00"),
      }),
      fc.record({
        column: fc.constant(column),
        operator: fc.constantFrom("in", "not_in"),
        value: fc.subarray(["/", "/login", "api.a.example"]),
      }),
    ),
  ),
  ...(["status", "origin_status", "duration_ms", "bytes_out"] as const).map((column) =>
    fc.oneof(
      fc.record({
        column: fc.constant(column),
        operator: fc.constantFrom(...ORDERS),
        value: fc.constantFrom<number | string>(200, 404, 7.5, "404", "x"),
      }),
      fc.record({ column: fc.constant(column), operator: fc.constantFrom("in", "not_in"), value: fc.constantFrom([200, 503], []) }),
      // Digits of fractions are left out, because SQL and JavaScript write them in different ways.
      ...(column === "duration_ms"
        ? []
        : [fc.record({ column: fc.constant(column), operator: fc.constantFrom("like", "has"), value: fc.constantFrom("2", "%0%") })]),
    ),
  ),
  fc.record({ column: fc.constant("client_ip"), operator: fc.constant("within"), value: fc.constantFrom("192.0.2.0/25", "2001:db8::/32") }),
) as fc.Arbitrary<Condition<"requests">>;

const anyWhere: fc.Arbitrary<Where<"requests">> = fc
  .record({
    zone: fc.option(fc.constantFrom("zone-a", "zone-b", "zone-c")),
    account: fc.option(fc.constant("account")),
    from: fc.option(moment),
    to: fc.option(moment),
    others: fc.array(anyCondition, { maxLength: 2 }),
    any: fc.option(fc.array(fc.array(anyCondition, { maxLength: 2 }), { maxLength: 3 }), { freq: 3 }),
  })
  .map(({ zone, account, from, to, others, any }) => [
    ...(zone === null ? [] : [{ column: "zone_id", operator: "eq", value: zone } as const]),
    ...(account === null ? [] : [{ column: "account_id", operator: "eq", value: account } as const]),
    ...(from === null ? [] : [{ column: "at_ms", operator: "ge", value: from } as const]),
    ...(to === null ? [] : [{ column: "at_ms", operator: "le", value: to } as const]),
    ...others,
    ...(any === null ? [] : [{ any }]),
  ]);

const anyRows = fc.array(anyRequest, { minLength: 3 * BLOCK_ROWS_MIN, maxLength: 6 * BLOCK_ROWS_MIN, size: "max" });
/** Blocks, and rows beside them. */
const MIXED = [BLOCK_ROWS_MIN + 30, 7, BLOCK_ROWS_MIN];
const SINGLE = [BLOCK_ROWS_MIN - 1];

/** The same rows in blocks and one by one. */
function bothStores(t: TestContext, rows: readonly RequestRow[]): readonly [Store, Store] {
  const [mixed, single] = [openStore(t), openStore(t)];
  insert(mixed, rows, MIXED);
  insert(single, rows, SINGLE);
  assert.ok(blocksIn(mixed) >= 2);
  assert.equal(blocksIn(single), 0);
  return [mixed, single];
}

const samples = <T>(arbitrary: fc.Arbitrary<T>, count: number): readonly T[] => fc.sample(arbitrary, { numRuns: count, seed: 20_261_122 });

test("property: queries find, order and page rows in blocks like single rows", (t) => {
  const [mixed, single] = bothStores(t, samples(anyRows, 1)[0]!);
  const question = fc.record({
    where: anyWhere,
    direction: fc.constantFrom("asc" as const, "desc" as const),
    limit: fc.integer({ min: 1, max: 40 }),
    offset: fc.constantFrom(0, 0, 3, 150),
  });
  fc.assert(
    fc.property(question, (asked) => {
      const [a, b] = [mixed.queries.page("requests", asked), single.queries.page("requests", asked)];
      assert.deepEqual(a, b);
      const all = mixed.queries.page("requests", { ...asked, offset: 0, limit: 10_000 }).rows;
      assert.deepEqual(a.rows, all.slice(asked.offset, asked.offset + asked.limit));
      if (a.last !== null) {
        const next = { ...asked, offset: 0, after: a.last };
        assert.deepEqual(mixed.queries.page("requests", next), single.queries.page("requests", next));
      }
      assert.equal(mixed.queries.count("requests", asked.where), single.queries.count("requests", asked.where));
    }),
    { numRuns: 250 },
  );
});

test("a page after a row does not read blocks of other times, so an export does not slow down", (t) => {
  const store = openStore(t);
  const rows = Array.from({ length: 5 * BLOCK_ROWS_MIN }, (_, n) => testRequestRow({ ray_id: String(n), at_ms: START_MS + n }));
  insert(store, rows, [BLOCK_ROWS_MIN]);
  const after = { at_ms: START_MS + 3 * BLOCK_ROWS_MIN, row_id: 3 * BLOCK_ROWS_MIN + 1 };
  const pages = () =>
    (["asc", "desc"] as const).map((direction) => store.queries.page("requests", { where: [], direction, after, limit: 5 }));
  const whole = pages();
  assert.deepEqual(
    whole.map((page) => page.rows.length),
    [5, 5],
  );
  // Blocks of other times are damaged: the page does not need them.
  const db = new DatabaseSync(store.path);
  const spoil = db.prepare("UPDATE requests_blocks SET data = x'00' WHERE from_ms > ? OR to_ms < ?");
  spoil.run(START_MS + 4 * BLOCK_ROWS_MIN - 1, START_MS + 2 * BLOCK_ROWS_MIN);
  db.close();
  assert.deepEqual(pages(), whole);
});

test("property: live queries return and skip the same rows from blocks as from single rows", (t) => {
  const [mixed, single] = bothStores(t, samples(anyRows, 2)[1]!);
  const question = fc.record({
    where: anyWhere,
    afterRow: fc.nat(450),
    rowsMax: fc.constantFrom(1, 50, 1000),
    unitsMax: fc.constantFrom(1, 5_000, Infinity),
    lookedAtMax: fc.constantFrom(1, 30, 1000),
    behindMax: fc.constantFrom(20, 1000),
  });
  fc.assert(
    fc.property(question, (asked) => {
      assert.deepEqual(mixed.queries.arrivals("requests", asked), single.queries.arrivals("requests", asked));
    }),
    { numRuns: 80 },
  );
  assert.equal(mixed.queries.lastRow("requests"), single.queries.lastRow("requests"));
});

test("property: groups are the same from blocks and from single rows", (t) => {
  const [mixed, single] = bothStores(t, samples(anyRows, 3)[2]!);
  const question: fc.Arbitrary<GroupQuery<"requests">> = fc.record({
    where: anyWhere,
    by: fc.subarray<GroupQuery<"requests">["by"][number]>([
      { column: "cache_status" },
      { column: "status" },
      { column: "path" },
      { column: "origin_status" },
      { column: "at_ms", intervalMs: 45_000 },
    ]),
    measures: fc.subarray<GroupQuery<"requests">["measures"][number]>([
      { kind: "sum", column: "bytes_in" },
      { kind: "unique", column: "client_ip" },
      { kind: 95, column: "bytes_in" },
    ]),
    order: fc.constant([]),
    limit: fc.constant(1000),
  });
  const told = ({ queries }: Store, asked: GroupQuery<"requests">): readonly string[] =>
    queries
      .groups("requests", asked)
      .map((group) => JSON.stringify(group))
      .toSorted();
  fc.assert(
    fc.property(question, (asked) => assert.deepEqual(told(mixed, asked), told(single, asked))),
    { numRuns: 120 },
  );
});

test("for very many blocks, a query reads every nth block and scales its counts", (t) => {
  const store = openStore(t);
  for (let n = 0; n < 9; n++) {
    const rows = Array.from({ length: 100 + n }, (_, i) =>
      testRequestRow({ at_ms: START_MS + n * 1000 + i, path: `/${n % 3}`, bytes_in: 1 }),
    );
    store.database.insert([packed("requests", rows)]);
  }
  const db = new DatabaseSync(store.path, { readOnly: true });
  t.after(() => db.close());
  const groups = blockGroups(db, "requests", {
    where: [],
    by: [{ column: "path" }],
    measures: [{ kind: "sum", column: "bytes_in" }],
    facets: [],
    every: 3,
  });
  // The newest is read, and then every third.
  assert.deepEqual(groups, [["/2", 3 * (108 + 105 + 102), 3 * (108 + 105 + 102)]]);
});

test("a block that cannot be written leaves nothing, and the next one gets its row numbers", (t) => {
  const store = openStore(t);
  const rows = Array.from({ length: BLOCK_ROWS_MIN }, (_, n) => testRequestRow({ ray_id: String(n) }));
  const bad = packed("requests", [...rows, testRequestRow({ at_ms: Number.NaN })]);
  assert.throws(() => store.database.insert([packed("requests", rows), bad]));
  assert.deepEqual([store.queries.count("requests", []), blocksIn(store)], [0, 0]);
  store.database.insert([packed("requests", rows)]);
  store.database.insert([packed("requests", rows.slice(0, 3))]);
  assert.equal(store.queries.lastRow("requests"), BLOCK_ROWS_MIN + 3);
});

test("a file without blocks keeps its rows, and stores blocks after them", (t) => {
  const store = openStore(t);
  const rows = Array.from({ length: 2 * BLOCK_ROWS_MIN }, (_, n) => testRequestRow({ ray_id: String(n), at_ms: START_MS + n }));
  store.database.insert([packed("requests", rows.slice(0, 5))]);
  const older = new DatabaseSync(store.path);
  older.exec("DROP TABLE requests_blocks; DROP TABLE requests_block_sites; PRAGMA user_version = 2");
  older.close();
  const again = openEventDatabase(store.path);
  t.after(() => again.close());
  again.insert([packed("requests", rows.slice(5))]);
  assert.equal(blocksIn(store), 1);
  assert.deepEqual(store.queries.list("requests", { where: [], direction: "asc", limit: 1000 }), rows);
});

test("retention deletes whole blocks, oldest first, with their site entries", (t) => {
  // Of a file that holds little, old counts would go first.
  const store = openStore(t, () => 5000);
  const rows = (at_ms: number) => Array.from({ length: 100 }, (_, n) => testSecurityRow({ at_ms: at_ms + n, zone_id: `zone-${n % 3}` }));
  for (const at_ms of [1000, 2000, 3000]) store.database.insert([packed("security_events", rows(at_ms))]);
  assert.deepEqual([blocksIn(store, "security_events_blocks"), blocksIn(store, "security_events_block_sites")], [3, 9]);
  assert.equal(store.database.deleteBefore(2050, 5000), 100, "half of the second one is to stay");
  assert.equal(store.queries.count("security_events", []), 200);
  assert.equal(store.database.deleteOldest(10), 100, "a block goes as a whole");
  assert.deepEqual([blocksIn(store, "security_events_blocks"), blocksIn(store, "security_events_block_sites")], [1, 3]);
  store.database.insert([packed("security_events", rows(4000).slice(0, 5))]);
  const { rows: page } = store.queries.page("security_events", {
    where: [{ column: "zone_id", operator: "eq", value: "zone-1" }],
    limit: 100,
  });
  assert.deepEqual([page.length, page[0]?.at_ms, page.at(-1)?.at_ms], [35, 4004, 3001]);
});
