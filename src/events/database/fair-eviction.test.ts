import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { type EventDatabase, openEventDatabase } from "./database.ts";
import { type EventQueries, openEventQueries } from "#events/read/queries.ts";
import { retentionStep } from "#events/retention/retention.ts";
import type { RequestRow, SecurityEventRow } from "#events/rows/rows.ts";
import { packed, testGatewayRow, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";

const NOW_MS = 1_700_000_000_000;
const FLOOD = { account_id: "flood" };
const QUIET = { account_id: "quiet", zone_id: "quiet-zone" };

interface Store {
  readonly path: string;
  readonly database: EventDatabase;
  readonly queries: EventQueries;
  /** Keeps the database within so many bytes, as its writer does. */
  keepWithin(bytes: number): void;
  events(account: string): readonly SecurityEventRow[];
}

function openStore(t: TestContext): Store {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-fair-"));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path, () => NOW_MS);
  const queries = openEventQueries(path);
  t.after(() => {
    queries.close();
    database.close();
    rmSync(directory, { recursive: true });
  });
  return {
    ...{ path, database, queries },
    keepWithin: (bytes) => {
      for (let steps = 0; retentionStep(database, { ageMs: NOW_MS, bytes }, NOW_MS); steps++) assert.ok(steps < 500);
      assert.ok(database.usedBytes() <= bytes);
    },
    events: (account) =>
      queries.list("security_events", {
        where: [{ column: "account_id", operator: "eq", value: account }],
        direction: "asc",
        limit: 100_000,
      }),
  };
}

const flood = (count: number, from = 0): readonly SecurityEventRow[] =>
  Array.from({ length: count }, (_, n) =>
    testSecurityRow({
      ...FLOOD,
      zone_id: `flood-${n % 3}`,
      id: `flood-${from + n}`,
      at_ms: NOW_MS - 1e6 + from + n,
      path: `/${n}`.padEnd(300, "x"),
    }),
  );
const quiet = (count: number, from = 0): readonly SecurityEventRow[] =>
  Array.from({ length: count }, (_, n) =>
    testSecurityRow({
      ...{ ...QUIET, id: `quiet-${from + n}`, at_ms: NOW_MS - 1e6 + from + n, path: `/ü${n % 3}`, scan_limited: n % 2 === 0 },
      ...{ user_agent: `agent/${n % 2}`, status: 200 + n, matches: n % 2 === 0 ? [] : testSecurityRow().matches },
    }),
  );

/** Rows of both, as traffic of several tenants comes from one thread. */
const mixed = (many: readonly SecurityEventRow[], few: readonly SecurityEventRow[]): readonly SecurityEventRow[] => {
  const every = Math.ceil(many.length / Math.max(1, few.length));
  return few.flatMap((row, n) => [...many.slice(n * every, (n + 1) * every), row]);
};

for (const [name, batch, share] of [
  ["as single rows", 20, 1],
  ["in blocks of several tenants, a few rows of each", 500, 5],
  ["in blocks of several tenants, many rows of each", 500, 100],
] as const)
  test(`a tenant that floods the database ${name} does not evict other tenants' events`, (t) => {
    const store = openStore(t);
    const kept: SecurityEventRow[] = [];
    for (let at = 0; at < 15_000; at += batch) {
      const few = quiet(share, kept.length);
      kept.push(...few);
      store.database.insert([packed("security_events", mixed(flood(batch, at), few))]);
    }
    const before = store.events("flood").length;
    const all = store.database.usedBytes();
    for (const part of [0.8, 0.6]) {
      store.keepWithin(all * part);
      assert.deepEqual(store.events("quiet"), kept);
    }
    const left = store.events("flood");
    assert.ok(left.length > 0 && left.length < before * 0.8, `${left.length} of ${before}`);
    const oldest = Math.min(...left.map(({ at_ms }) => at_ms));
    assert.ok(oldest > NOW_MS - 1e6, "the oldest went first");
    assert.equal(store.queries.count("security_events", []), left.length + kept.length);
  });

test("a few large events count by their size", (t) => {
  const store = openStore(t);
  const matched_data = "m".repeat(30_000);
  const large = (n: number) =>
    testSecurityRow({ ...FLOOD, id: `${n}`, at_ms: NOW_MS - 500 + n, matches: [{ ...testSecurityRow().matches[0]!, matched_data }] });
  const many: RequestRow[] = Array.from({ length: 5000 }, (_, n) => testRequestRow({ ...QUIET, at_ms: NOW_MS - 1e6 + n, path: `/${n}` }));
  store.database.insert([packed("requests", many)]);
  for (let n = 0; n < 300; n++) store.database.insert([packed("security_events", [large(n)])]);
  store.keepWithin(store.database.usedBytes() / 2);
  assert.equal(store.queries.count("requests", []), many.length);
  assert.ok(store.events("flood").length < 200);
});

test("the tenant with the most bytes in all tables loses rows of its largest table", (t) => {
  const store = openStore(t);
  const rows = (count: number, changes: Partial<RequestRow>) =>
    Array.from({ length: count }, (_, n) => testRequestRow({ at_ms: NOW_MS - 1e6 + n, path: `/${n}`.padEnd(200, "x"), ...changes }));
  for (let at = 0; at < 100; at++) store.database.insert([packed("requests", rows(30, FLOOD)), packed("security_events", flood(5, at))]);
  for (let at = 0; at < 50; at++)
    store.database.insert([
      packed(
        "gateway_logs",
        Array.from({ length: 20 }, (_, n) => testGatewayRow({ ...QUIET, id: `${at}-${n}`, at_ms: NOW_MS - 2e6 } as object)),
      ),
    ]);
  const [events, logs] = [store.events("flood").length, 1000];
  store.keepWithin(store.database.usedBytes() * 0.75);
  assert.equal(store.events("flood").length, events);
  assert.equal(store.queries.count("gateway_logs", []), logs);
  assert.ok(store.queries.count("requests", []) < 3000);
  store.keepWithin(Math.max(300_000, store.database.usedBytes() * 0.1));
});

test("a file without byte counts still works, and evicts as fairly", (t) => {
  const store = openStore(t);
  const kept = quiet(5);
  for (let at = 0; at < 10; at++) store.database.insert([packed("security_events", flood(500, at * 500))]);
  store.database.insert([packed("security_events", mixed(flood(500), kept))]);
  const older = new DatabaseSync(store.path);
  for (const table of ["requests", "security_events"]) older.exec(`ALTER TABLE ${table}_block_sites DROP COLUMN bytes`);
  older.close();
  const again = openEventDatabase(store.path, () => NOW_MS);
  t.after(() => again.close());
  for (let rows = 0; rows < 5000;) rows += again.deleteOldest(1000);
  assert.deepEqual(store.events("quiet"), kept);
  assert.ok(again.deleteOldest(1e6) > 0);
  while (again.deleteOldest(1e6) > 0);
  assert.deepEqual([store.queries.count("security_events", []), again.deleteOldest(1)], [0, 0]);
});

test("counts of invented names cannot fill a database: the oldest counts are deleted before rows, and charts have the last hours", (t) => {
  const store = openStore(t);
  const kept = quiet(200);
  store.database.insert([packed("security_events", kept)]);
  const MINUTE = 60_000;
  // 48 hours, 100 methods each minute.
  for (let minute = 0; minute < 2_880; minute++) {
    const rows = Array.from({ length: 100 }, (_, n) => testRequestRow({ ...FLOOD, at_ms: NOW_MS - minute * MINUTE, method: `M${n}` }));
    store.database.insert([packed("requests", rows)]);
  }
  const before = store.queries.count("requests", []);
  const counts = (): { readonly n: number; readonly ms: number } => {
    const db = new DatabaseSync(store.path, { readOnly: true });
    const row = db.prepare("SELECT COUNT(*) AS n, MIN(at_ms) AS ms FROM requests_minutes").get();
    db.close();
    return { n: Number(row?.["n"]), ms: Number(row?.["ms"]) };
  };
  assert.equal(counts().n, before);
  store.keepWithin(store.database.usedBytes() * 0.6);
  assert.deepEqual(store.events("quiet"), kept);
  assert.equal(store.queries.count("requests", []), before);
  assert.ok(counts().n < before * 0.7 && counts().n > before * 0.1, String(counts().n));
  store.keepWithin(store.database.usedBytes() * 0.15);
  assert.ok(counts().n >= 100 * 120 && counts().ms <= NOW_MS - 119 * MINUTE, "two hours stay");
  assert.ok(store.queries.count("requests", []) < before, "then rows go");
});
