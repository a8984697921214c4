import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import type { Page } from "#control/call.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { EventScope } from "./event-filter.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { type EventReads, localReads } from "#events/read/read-client.ts";
import type { SecurityEventRow } from "#events/rows/rows.ts";
import { packed, testSecurityRow } from "#events/testing/rows.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { createSecurityEvents } from "./security-events.ts";

const sealer = createSealer(new Uint8Array(32));

const RULE = "a".repeat(32);
const MATCHED = "b".repeat(32);
const DEPLOYED = "c".repeat(32);

const ROWS: readonly SecurityEventRow[] = [
  testSecurityRow({ id: "1", at_ms: 1000, rule_id: RULE, host: "one.example", client_ip: "2001:db8::1" }),
  testSecurityRow({ id: "2", at_ms: 2000, action: "block", service: "WAF", ruleset_id: "own", path: "/admin", matches: [] }),
  testSecurityRow({
    id: "3",
    at_ms: 3000,
    ray_id: "ray",
    deployed_by: DEPLOYED,
    matches: [{ detector: "fin.iban", rule_id: MATCHED, count: 1, offset: 0, confidence: "high" }],
  }),
  testSecurityRow({ id: "4", zone_id: "another" }),
];

/** An activity log over its own database, which goes with the test. */
async function openLog(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-log-"));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path);
  const queries = openEventQueries(path);
  t.after(async () => {
    queries.close();
    database.close();
    await rm(directory, { recursive: true });
  });
  const reads = localReads(queries);
  return { database, reads, log: createSecurityEvents({ reads, clock: systemClock, sealer }) };
}

test("each filter of the activity log selects its rows", async (t) => {
  const { database, log } = await openLog(t);
  database.insert([packed("security_events", ROWS)]);

  const ids = async (query: object): Promise<string> => {
    const { items, total_count } = await log.list({ zone_id: "zone" }, { page: 1, per_page: 20, ...query });
    assert.equal(total_count, items.length);
    return items.map((item) => item.id).join("");
  };
  assert.equal(await ids({}), "321");
  assert.equal(await ids({ rule_id: RULE }), "1");
  assert.equal(await ids({ rule_id: MATCHED }), "3");
  assert.equal(await ids({ rule_id: DEPLOYED }), "3");
  assert.equal(await ids({ ruleset_id: "ruleset" }), "31");
  assert.equal(await ids({ action: "block" }), "2");
  assert.equal(await ids({ service: "Data Loss Protection" }), "31");
  assert.equal(await ids({ host: "one.example" }), "1");
  assert.equal(await ids({ path: "/admin" }), "2");
  assert.equal(await ids({ ray_id: "ray" }), "3");
  assert.equal(await ids({ client_ip: "2001:DB8:0::1" }), "1", "any spelling of the address");
  assert.equal(await ids({ client_ip: ["2001:db8::/32", "198.51.100.1"] }), "1", "networks, and any of several");
  assert.equal(await ids({ client_ip: "192.0.0.0/8" }), "32");
  assert.equal(await ids({ action: ["block", "skip"], "path.contains": "dmi" }), "2");
  assert.equal(await ids({ action: ["block", "skip"], "path.contains": "%" }), "");
  assert.equal(await ids({ method: "GET", status: 200, phase: "http_response_firewall_managed" }), "321");
  assert.equal(await ids({ since: "1970-01-01T00:00:02Z" }), "32");
  assert.equal(await ids({ until: "1970-01-01T01:00:02+01:00" }), "1", "exclusive, in any offset");
  assert.equal((await log.list({ zone_id: "zone" }, { page: 2, per_page: 2 })).items[0]?.occurred_at, "1970-01-01T00:00:01.000Z");

  for (const query of [
    { since: "yesterday" },
    { until: "2024-02-30T00:00:00Z" },
    { client_ip: "300.1.1.1" },
    { client_ip: "192.0.2.0/33" },
    { cursor: "nonsense" },
    { page: 1_000_000 },
  ]) {
    await assert.rejects(
      log.list({ zone_id: "zone" }, { page: 1, per_page: 20, ...query }),
      (error: unknown) => error instanceof PlatformError && error.errorName === "invalid_input",
    );
  }
});

test("a cursor is valid only for its list, and reveals nothing about other tenants' rows", async (t) => {
  const { database, log } = await openLog(t);
  database.insert([packed("security_events", ROWS)]);
  const page = (scope: EventScope, cursor?: string) =>
    log.list(scope, { page: 1, per_page: 2, ...(cursor === undefined ? {} : { cursor }) });
  const [zone, other, account] = [{ zone_id: "zone" }, { zone_id: "another" }, { account_id: testSecurityRow({}).account_id }];
  const { after } = await page(zone);
  assert.ok(after);
  assert.deepEqual(
    (await page(zone, after)).items.map(({ id }) => id),
    ["1"],
  );
  assert.ok(!/\d+\.\d+/.test(Buffer.from(after, "base64url").toString("latin1")));
  assert.notEqual((await page(zone)).after, after, "two of one place do not look alike");
  const changed = `${after.slice(0, -2)}${after.endsWith("AA") ? "BB" : "AA"}`;
  for (const [scope, cursor] of [
    [other, after],
    [account, after],
    [zone, changed],
    [zone, after.slice(0, 20)],
    [zone, Buffer.from("3000.3").toString("base64url")],
  ] as const)
    await assert.rejects(
      page(scope, cursor),
      (error: unknown) => error instanceof PlatformError && error.errorName === "invalid_input" && error.source === "/cursor",
    );
});

const allItems = async <T>({ items, more }: Page<T>): Promise<readonly T[]> => [
  ...items,
  ...(more === undefined ? [] : (await collected(more)).flat()),
];

async function collected<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

test("counts match the existing rows, also after some rows of an hour were deleted", async (t) => {
  const { database, log } = await openLog(t);
  const MINUTE_MS = 60_000;
  const rows = Array.from({ length: 300 }, (_, n) =>
    testSecurityRow({
      id: String(n),
      at_ms: n * MINUTE_MS,
      action: n % 3 === 0 ? "block" : "log",
      zone_id: n % 2 === 0 ? "zone" : "another",
    }),
  );
  // Rows that arrived together are deleted together.
  for (let at = 0; at < rows.length; at += 10) database.insert([packed("security_events", rows.slice(at, at + 10))]);
  const { account_id } = testSecurityRow({});
  for (const goneMinutes of [0, 1, 90, 120, 295, 300]) {
    database.deleteBefore(goneMinutes * MINUTE_MS, 1000);
    for (const scope of [{ zone_id: "zone" }, { account_id }])
      for (const query of [{}, { action: "block" }, { since: "1970-01-01T01:10:00Z" }, { until: "1970-01-01T02:30:00Z" }]) {
        const whole = await log.list(scope, { page: 1, per_page: 1000, ...query });
        const { total_count } = whole;
        const items = await allItems(whole);
        const counted = await log.list(scope, { page: 1, per_page: 1, ...query });
        assert.deepEqual([total_count, counted.total_count], [items.length, items.length], JSON.stringify({ goneMinutes, scope, query }));
      }
    const left = (await allItems(await log.list({ account_id }, { page: 1, per_page: 1000 }))).length;
    assert.ok(left <= rows.length - goneMinutes + 10, "rows have gone");
  }
});

test("an estimated count is marked, and is at least the number of rows on the page", async (t) => {
  const { database, reads } = await openLog(t);
  database.insert([packed("security_events", ROWS)]);
  const sampledAs = (count: number): EventReads => ({
    ...reads,
    groups: async (table, query) => (await reads.groups(table, query)).map((group) => ({ ...group, count, sampleInterval: 3 })),
  });
  const total = async (given: EventReads, query: object) => {
    const log = createSecurityEvents({ reads: given, clock: systemClock, sealer });
    const { total_count, info, after } = await log.list({ zone_id: "zone" }, { page: 1, per_page: 20, user_agent: "test/1", ...query });
    return [total_count, info?.["total_count_is_estimate"] ?? false, after] as const;
  };
  assert.deepEqual((await total(reads, { per_page: 2 })).slice(0, 2), [3, false]);
  assert.deepEqual((await total(sampledAs(6), { per_page: 2 })).slice(0, 2), [6, true]);
  const [least, , after] = await total(sampledAs(0), { per_page: 2 });
  assert.equal(least, 3, "two and one more");
  assert.deepEqual((await total(sampledAs(0), { per_page: 2, cursor: after })).slice(0, 2), [1, true]);
  assert.deepEqual((await total(sampledAs(6), { per_page: 2, page: 2 })).slice(0, 2), [3, false], "the last page is no estimate");
  assert.deepEqual((await total(sampledAs(6), {})).slice(0, 2), [3, false]);
  assert.deepEqual((await total(sampledAs(6), { page: 9 })).slice(0, 2), [6, true], "a page behind the last one tells nothing");
});

test("an export waits for a busy database, and aborts on a damaged one", async (t) => {
  const { database, reads } = await openLog(t);
  database.insert([packed("security_events", ROWS)]);
  const failing = (failure: PlatformError): EventReads => {
    let asked = 0;
    return {
      ...reads,
      page: async (table, query) => {
        asked++;
        if (asked === 2 || asked === 3) throw failure;
        return reads.page(table, { ...query, limit: 1 });
      },
    };
  };
  const exportOver = (error: PlatformError) =>
    Readable.from(
      createSecurityEvents({ reads: failing(error), clock: systemClock, sealer }).export({ zone_id: "zone" }, {}, "account"),
    ).toArray();
  const parts = await exportOver(new PlatformError("database_unavailable", { retryable: true }));
  assert.deepEqual(
    parts.map((line: string) => (JSON.parse(line) as SecurityEventRow).id),
    ["3", "2", "1"],
  );
  await assert.rejects(exportOver(new PlatformError("database_damaged")), PlatformError);
});

test("one account's followers do not use up the places of others", async () => {
  const log = createSecurityEvents({
    reads: localReads(openEventQueries(join(tmpdir(), "selvedge-nowhere", "events.db"))),
    clock: systemClock,
    sealer,
  });
  const open = (accountId: string) => log.tail({ zone_id: "zone" }, {}, accountId)[Symbol.asyncIterator]();
  const isRefused = (error: unknown) => error instanceof PlatformError && error.errorName === "rate_limited";
  const readers = Array.from({ length: 25 }, () => open("one"));
  await Promise.all(readers.map((reader) => reader.next()));
  assert.throws(() => open("one"), isRefused);
  const other = open("two");
  assert.equal((await other.next()).done, false);
  await readers[0]?.return?.();
  await open("one").next();
  assert.throws(() => open("one"), isRefused);
  log.close();
});

test("one account's exports do not use up the places of others, and an ended or abandoned export releases its own", async (t) => {
  const { database, log } = await openLog(t);
  database.insert([packed("security_events", ROWS)]);
  const open = (accountId: string) => log.export({ zone_id: "zone" }, {}, accountId)[Symbol.asyncIterator]();
  const isRefused = (error: unknown) =>
    error instanceof PlatformError && error.errorName === "rate_limited" && error.headers?.["retry-after"] === "30";
  const exports = Array.from({ length: 10 }, () => open("one"));
  await Promise.all(exports.map((one) => one.next()));
  assert.throws(() => open("one"), isRefused);
  assert.equal((await open("two").next()).done, false);
  assert.equal((await exports[0]!.next()).done, true);
  await exports[1]!.return?.();
  await Promise.all([open("one").next(), open("one").next()]);
  assert.throws(() => open("one"), isRefused);
});

test("a place is taken before the first read, and a stream that is left before it frees the place", async (t) => {
  const { log } = await openLog(t);
  const isRefused = (error: unknown) => error instanceof PlatformError && error.errorName === "rate_limited";
  for (const [most, open] of [
    [10, () => log.export({ zone_id: "zone" }, {}, "one")],
    [25, () => log.tail({ zone_id: "zone" }, {}, "one")],
  ] as const) {
    const streams = Array.from({ length: most }, open);
    assert.throws(open, isRefused);
    await streams[0]?.return?.();
    await open().return?.();
    open();
    assert.throws(open, isRefused);
  }
});

test("many concurrent followers all get a place, even if the database runs few queries at a time", async (t) => {
  const { database, reads } = await openLog(t);
  database.insert([packed("security_events", ROWS)]);
  let underWay = 0;
  const busy = async <R>(answer: () => Promise<R>): Promise<R> => {
    if (underWay >= 8) throw new PlatformError("database_unavailable", { retryable: true });
    underWay++;
    await setImmediate();
    return answer().finally(() => underWay--);
  };
  const narrow: EventReads = {
    ...reads,
    page: (table, query) => busy(() => reads.page(table, query)),
    lastRow: (table) => busy(() => reads.lastRow(table)),
  };
  const log = createSecurityEvents({ reads: narrow, clock: systemClock, sealer });
  for (const query of [{}, { last_event_id: "01HF00000000000000000000AA" }]) {
    const readers = Array.from({ length: 100 }, (_, n) => log.tail({ zone_id: "zone" }, query, `of ${n % 4}`)[Symbol.asyncIterator]());
    const begun = await Promise.all(readers.map((reader) => reader.next()));
    assert.ok(begun.every(({ value }) => String(value).startsWith(": events follow")));
    await Promise.all(readers.map((reader) => reader.return?.()));
  }
  log.close();
});

test("a follower that disconnects while no event occurs releases its place at once", async () => {
  const reads = localReads(openEventQueries(join(tmpdir(), "selvedge-nowhere", "events.db")));
  const log = createSecurityEvents({ reads, clock: fixedClock(0), sealer });
  for (let round = 0; round < 2; round++) {
    const readers = Array.from({ length: 25 }, () => log.tail({ zone_id: "zone" }, {}, "one")[Symbol.asyncIterator]());
    await Promise.all(readers.map((reader) => reader.next()));
    const waits = readers.map((reader) => reader.next());
    await Promise.all(readers.map((reader) => reader.return?.()));
    assert.ok(
      (await Promise.all(waits)).every(({ value }) => value === ""),
      "nothing came meanwhile",
    );
  }
  log.close();
});

test("a follower gets all events of any length, in chunks of limited length", async () => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-tail-"));
  const database = openEventDatabase(join(directory, "events.db"));
  const log = createSecurityEvents({ reads: localReads(openEventQueries(join(directory, "events.db"))), clock: systemClock, sealer });
  try {
    const reader = log.tail({ zone_id: "mine" }, {}, "one")[Symbol.asyncIterator]();
    await reader.next();
    const matched_data = "m".repeat(50_000);
    const rows = Array.from({ length: 60 }, (_, n) =>
      testSecurityRow({
        id: newUlid(n),
        zone_id: "mine",
        matches: [{ ...testSecurityRow().matches[0]!, matched_data: `${n}${matched_data}` }],
      }),
    );
    // Some in a block, some as rows; one is longer than any text is to be.
    database.insert([packed("security_events", rows.slice(0, 10))]);
    database.insert([packed("security_events", [testSecurityRow({ id: newUlid(11), zone_id: "mine", query: "q".repeat(400_000) })])]);
    database.insert([packed("security_events", [...rows.slice(10), ...rows.slice(10)])]);
    let events = 0;
    while (events < 111) {
      const text = String((await reader.next()).value);
      assert.ok(text.length < 700_000, String(text.length));
      events += text.match(/^event: security_event$/gm)?.length ?? 0;
    }
    assert.equal(events, 111);
    await reader.return?.();
  } finally {
    log.close();
    database.close();
    await rm(directory, { recursive: true });
  }
});

test("a follower that is too far behind gets the number of skipped events, and then the others", async () => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-tail-"));
  const database = openEventDatabase(join(directory, "events.db"));
  const local = localReads(openEventQueries(join(directory, "events.db")));
  // 100 rows at most, of which every other one is its own.
  const reads: EventReads = { ...local, arrivals: (table, query) => local.arrivals(table, { ...query, behindMax: 100 }) };
  const log = createSecurityEvents({ reads, clock: systemClock, sealer });
  try {
    const reader = log.tail({ zone_id: "mine" }, { for_seconds: 1 }, "one")[Symbol.asyncIterator]();
    assert.match(String((await reader.next()).value), /^: events follow\nid: /);
    const rows = Array.from({ length: 400 }, (_, n) => testSecurityRow({ id: newUlid(n), zone_id: n % 2 === 0 ? "mine" : "other" }));
    database.insert([packed("security_events", rows)]);
    const text = String((await reader.next()).value);
    assert.ok(text.startsWith('event: missed\ndata: {"events":150}\n\nid: '), text.slice(0, 200));
    assert.equal(text.match(/^event: security_event$/gm)?.length, 50);
  } finally {
    log.close();
    database.close();
    await rm(directory, { recursive: true });
  }
});
