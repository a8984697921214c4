import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createAnalytics } from "#control/analytics/analytics.ts";
import type { Call } from "#control/call.ts";
import { createSecurityEvents } from "./security-events.ts";
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

async function openRows(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-values-"));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path);
  const queries = openEventQueries(path);
  t.after(async () => {
    queries.close();
    database.close();
    await rm(directory, { recursive: true });
  });
  database.insert([packed("security_events", ROWS)]);
  return localReads(queries);
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

test("analytics has every rule and value of an event, and the vendor's names of sources", async (t) => {
  const reads = await openRows(t);
  const access = { authorize: async () => undefined };
  const analytics = createAnalytics({ access, store: undefined as unknown as Store, reads } as unknown as Parameters<
    typeof createAnalytics
  >[0]);
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
