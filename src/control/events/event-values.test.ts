import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createLongReads } from "#control/long-reads.ts";
import { createAnalytics } from "#control/analytics/analytics.ts";
import type { Call } from "#control/call.ts";
import { createSecurityEvents } from "./security-events.ts";
import type { EventReads } from "#events/read/read-client.ts";
import type { SensitiveDataValues, SensitiveDataValuesQuery } from "#model/events/security-event.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { localReads } from "#events/read/read-client.ts";
import { openEventQueries } from "#events/read/queries.ts";
import type { EventMatch, SecurityEventRow } from "#events/rows/rows.ts";
import { packed, testSecurityRow } from "#events/testing/rows.ts";
import { systemClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { AnalyticsFilter } from "#model/events/analytics.ts";
import type { Store } from "#store/database/store.ts";

const [CARD, KEY] = ["c".repeat(32), "d".repeat(32)];
const [VISA, IBAN] = ["1".repeat(32), "2".repeat(32)];
const match = (rule_id: string, value_hash: string, more: Partial<EventMatch> = {}): EventMatch => ({
  ...{ detector: `of.${rule_id.slice(0, 1)}`, rule_id, value_hash, count: 3, offset: 0, confidence: "medium" },
  ...more,
});

const ROWS: readonly SecurityEventRow[] = [
  testSecurityRow({ id: "1", at_ms: 1_000, rule_id: VISA, path: "/a", matches: [match(VISA, CARD)] }),
  testSecurityRow({
    ...{ id: "2", at_ms: 5_000, rule_id: VISA, path: "/b" },
    matches: [match(VISA, CARD, { json_path: "$.card" }), match(IBAN, CARD, { confidence: "high" }), match(IBAN, KEY)],
  }),
  testSecurityRow({ id: "3", at_ms: 9_000, rule_id: "own", service: "WAF", phase: "http_request_firewall_custom", matches: [] }),
  testSecurityRow({ id: "4", at_ms: 9_500, rule_id: "own", service: "Rate Limits", phase: "http_ratelimit", matches: [] }),
];

async function openRows(t: TestContext, rows: readonly SecurityEventRow[] = ROWS, batchRows = Infinity) {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-values-"));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path);
  const queries = openEventQueries(path);
  t.after(async () => {
    queries.close();
    database.close();
    await rm(directory, { recursive: true });
  });
  for (let at = 0; at < rows.length; at += batchRows) database.insert([packed("security_events", rows.slice(at, at + batchRows))]);
  return { ...localReads(queries), database };
}

test("events are grouped by value, with first and last time, count and rules", async (t) => {
  const reads = await openRows(t);
  const log = createSecurityEvents({ reads, clock: systemClock, sealer: createSealer(new Uint8Array(32)) });
  const { values, ...rest } = await log.values({ zone_id: "zone" }, {});
  assert.deepEqual(rest, { events_read: 2, is_complete: true });
  assert.deepEqual(
    values.map(({ value_hash, events, first_seen, last_seen, rule_ids, confidence, path, json_path }) => [
      ...[value_hash, events, Date.parse(first_seen), Date.parse(last_seen)],
      ...[rule_ids, confidence, path, json_path],
    ]),
    [
      [CARD, 2, 1_000, 5_000, [VISA, IBAN], "high", "/b", "$.card"],
      [KEY, 1, 5_000, 5_000, [IBAN], "medium", "/b", undefined],
    ],
  );
  const until = new Date(2_000).toISOString();
  assert.deepEqual(
    (await log.values({ zone_id: "zone" }, { until })).values.map(({ events }) => events),
    [1],
  );
  assert.deepEqual((await log.values({ zone_id: "zone" }, { value_hash: KEY })).events_read, 1);
  assert.deepEqual((await log.values({ zone_id: "another" }, {})).values, []);
  const ids = async (value_hash: string) =>
    (await log.list({ zone_id: "zone" }, { page: 1, per_page: 20, value_hash })).items.map(({ id }) => id).join("");
  assert.equal(await ids(CARD), "21");
  assert.equal(await ids(KEY), "2");
  await assert.rejects(ids("short"), /32 hexadecimal/);
});

const valuesFrom = async (reads: EventReads, filter: SensitiveDataValuesQuery = {}) =>
  createSecurityEvents({ reads, clock: systemClock, sealer: createSealer(new Uint8Array(32)) }).values({ zone_id: "zone" }, filter);

const HOUR_MS = 3_600_000;
/** 2026-11-01T00:00:00Z. */
const DAY_ONE = 1_793_491_200_000;

test("values of more events than one answer reads are whole, and other filters say that theirs are not", async (t) => {
  const rows = Array.from({ length: 10_600 }, (_, n) =>
    testSecurityRow({ id: String(n), at_ms: DAY_ONE + n * 1_000, rule_id: VISA, matches: [match(VISA, n === 3 ? KEY : CARD)] }),
  );
  const reads = await openRows(t, rows, 2_000);
  const { values, ...rest } = await valuesFrom(reads);
  assert.deepEqual(rest, { events_read: 10_600, is_complete: true });
  assert.deepEqual(
    values.map(({ value_hash, events, first_seen, last_seen }) => [value_hash, events, Date.parse(first_seen), Date.parse(last_seen)]),
    [
      [CARD, 10_599, DAY_ONE, DAY_ONE + 10_599_000],
      [KEY, 1, DAY_ONE + 3_000, DAY_ONE + 3_000],
    ],
  );
  const one = await valuesFrom(reads, { value_hash: KEY });
  assert.deepEqual([one.events_read, one.is_complete, one.values.length, one.values[0]?.events], [1, true, 1, 1]);
  const others = await valuesFrom(reads, { host: rows[0]!.host });
  assert.deepEqual([others.is_complete, others.values.map(({ value_hash }) => value_hash)], [false, [CARD]]);
  // Rows go before their counts.
  reads.database.deleteBefore(DAY_ONE + 4 * HOUR_MS, 20_000);
  assert.equal((await valuesFrom(reads)).events_read, 10_600);
  reads.database.deleteCountsBefore("hours", DAY_ONE + HOUR_MS, 5_000);
  const left = await valuesFrom(reads);
  assert.deepEqual([left.events_read, left.values.map(({ first_seen }) => Date.parse(first_seen))], [7_000, [DAY_ONE + HOUR_MS]]);
});

test("hours, and the events beside them, give the same values as all events", async (t) => {
  const event = fc.record({
    minute: fc.integer({ min: 0, max: 240 }),
    path: fc.constantFrom("/a", "/b"),
    matches: fc.array(
      fc.record({
        rule: fc.constantFrom(VISA, IBAN),
        hash: fc.constantFrom(CARD, KEY, "e".repeat(32), undefined),
        confidence: fc.constantFrom("low" as const, "high" as const),
      }),
      { maxLength: 3 },
    ),
  });
  const time = fc.option(fc.integer({ min: 0, max: 245 }), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 25 }), time, time, async (events, since, until) => {
      if (since !== undefined && until !== undefined && since >= until) return;
      const rows = events.map(({ minute, path, matches }, n) =>
        testSecurityRow({
          ...{ id: String(n), at_ms: DAY_ONE + minute * 60_000 + n, rule_id: VISA, path },
          matches: matches.map(({ rule, hash, confidence }): EventMatch => {
            const { value_hash: _, ...without } = match(rule, "", { confidence });
            return hash === undefined ? without : { ...without, value_hash: hash };
          }),
        }),
      );
      const reads = await openRows(t, rows, 7);
      const at = (minute: number | undefined) => (minute === undefined ? undefined : new Date(DAY_ONE + minute * 60_000).toISOString());
      const filter = { since: at(since), until: at(until) };
      // A filter that every event passes is read from the events.
      const counted = await valuesFrom(reads, filter as SensitiveDataValuesQuery);
      const read = await valuesFrom(reads, { ...filter, host: rows[0]?.host ?? "none" } as SensitiveDataValuesQuery);
      const inOrder = ({ values, ...rest }: SensitiveDataValues) => ({
        ...rest,
        values: values.map((value) => ({ ...value, rule_ids: value.rule_ids.toSorted(), detectors: value.detectors.toSorted() })),
      });
      assert.deepEqual(inOrder(counted), inOrder(read));
    }),
    { numRuns: 25 },
  );
});

test("analytics has every rule and value of an event, and the vendor's names of sources", async (t) => {
  const reads = await openRows(t);
  const access = { authorize: async () => undefined };
  const analytics = createAnalytics({
    access,
    store: undefined as unknown as Store,
    reads,
    longReads: createLongReads(),
  } as unknown as Parameters<typeof createAnalytics>[0]);
  const found = async (...filters: AnalyticsFilter[]): Promise<string> => {
    const query = { filters, fields: ["datetime", "matches"], direction: "asc", limit: 10 } as const;
    const rows = await analytics.rows({} as Call, { zone_id: "zone" }, "firewallEvents", query);
    return rows.map(({ datetime }) => new Date(String(datetime)).getUTCSeconds()).join(" ");
  };
  const is = (field: string, operator: string, value: string | readonly string[]): AnalyticsFilter =>
    ({ field, operator, value }) as unknown as AnalyticsFilter;
  assert.equal(await found(is("ruleId", "eq", IBAN)), "5");
  assert.equal(await found(is("ruleId", "in", [IBAN, "own"])), "5 9 9");
  assert.equal(await found(is("valueHash", "eq", CARD)), "1 5");
  assert.equal(await found(is("valueHash", "in", [KEY])), "5");
  for (const word of ["dlp", "DLP", "Data Loss Protection"]) assert.equal(await found(is("source", "eq", word)), "1 5", word);
  assert.equal(await found(is("source", "eq", "firewallCustom")), "9");
  assert.equal(await found(is("source", "in", ["rateLimit", "firewallcustom"])), "9 9");
  assert.equal(await found(is("source", "ne", "dlp")), "9 9");
  assert.equal(await found(is("source", "not_in", ["dlp", "ratelimit"])), "9");
  assert.equal(await found(is("source", "eq", "l7ddos")), "");
  assert.equal(await found(is("source", "ne", "l7ddos")), "1 5 9 9");
  assert.equal(await found(is("source", "eq", "WAF")), "9", "our own word comes first");
  const valuesOf = async (...filters: AnalyticsFilter[]) => {
    const { values, is_complete } = await analytics.values({} as Call, { zone_id: "zone" }, filters);
    return { is_complete, found: values.map(({ value_hash, events }) => [value_hash, events]) };
  };
  const all = {
    is_complete: true,
    found: [
      [CARD, 2],
      [KEY, 1],
    ],
  };
  assert.deepEqual(await valuesOf(), all);
  assert.deepEqual(await valuesOf(is("source", "eq", "dlp")), all, "read from the events");
  assert.deepEqual((await valuesOf(is("valueHash", "eq", KEY))).found, [[KEY, 1]]);
  assert.deepEqual((await valuesOf(is("valueHash", "in", [KEY, CARD]))).found, all.found);
  const before = { field: "datetime", operator: "lt", value: 2_000 } as const;
  assert.deepEqual((await valuesOf(before)).found, [[CARD, 1]]);
  const [, second] = await analytics.rows({} as Call, { zone_id: "zone" }, "firewallEvents", {
    ...{ filters: [], fields: ["matches"], direction: "asc", limit: 10 },
  });
  assert.deepEqual(
    ((second?.["matches"] ?? []) as readonly Record<string, unknown>[]).map(({ ruleId, valueHash, jsonPath }) => [
      ruleId,
      valueHash,
      jsonPath,
    ]),
    [
      [VISA, CARD, "$.card"],
      [IBAN, CARD, null],
      [IBAN, KEY, null],
    ],
  );
});
