import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootstrap } from "#control/access/bootstrap.ts";
import { systemActor, systemCall } from "#control/call.ts";
import { createLongReads } from "#control/long-reads.ts";
import { createGateways } from "#control/gateways/gateways.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { openGatewayLogReads } from "#events/read/log-reads.ts";
import { type GatewayLogStore, openGatewayLogStore } from "#events/read/store.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { packed } from "#events/testing/rows.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { createGatewayLogs, type GatewayLogs } from "./logs.ts";

const directory = mkdtempSync(join(tmpdir(), "selvedge-logs-"));
const READER = systemCall("reader");
const PAGE = { page: 1, per_page: 20 };
let store: Store;
let events: GatewayLogStore;
let logs: GatewayLogs;
let account: string;
let path: string;

const row = (at: number, value: Partial<GatewayLogRow> = {}): GatewayLogRow => ({
  id: `01ROW${at}`,
  at_ms: at,
  account_id: account,
  gateway_id: "gw",
  provider: "openai",
  model: "gpt-4o-mini",
  path: "/chat/completions",
  method: "POST",
  status_code: 200,
  success: true,
  cached: false,
  duration_ms: 12,
  tokens_in: 3,
  tokens_out: null,
  cost: null,
  step: 0,
  request_content_type: "application/json",
  response_content_type: "application/json",
  request_bytes: 100,
  response_bytes: 200,
  ...value,
});

before(async () => {
  store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock: systemClock });
  account = (await bootstrap({ store, clock: systemClock, sealer: createSealer(Buffer.alloc(32)), email: "admin@example.com" })).account_id;
  const call = { actor: systemActor("test"), request_id: "r", rev: null };
  const settings = {
    cache_invalidate_on_update: false,
    cache_ttl: null,
    collect_logs: true,
    rate_limiting_interval: null,
    rate_limiting_limit: null,
  };
  const gateways = createGateways({ store, sealer: createSealer(Buffer.alloc(32, 7)), clock: fixedClock("1970-01-01T00:00:00Z") });
  for (const id of ["gw", "other", "empty"]) await gateways.create(call, account, { id, ...settings });
  path = join(directory, "events.db");
  const database = openEventDatabase(path);
  const rows = [
    row(1000),
    row(2000, { model: "gpt-4.1", success: false, status_code: 502 }),
    row(3000, { path: "/embeddings", model: "a-embedding" }),
    row(4000, { gateway_id: "other" }),
    row(5000, { account_id: "b".repeat(32) }),
  ];
  database.insert([packed("gateway_logs", rows)]);
  database.close();
  events = openGatewayLogStore(path, openGatewayLogReads(path));
  logs = createGatewayLogs({ store, clock: systemClock, logs: events, longReads: createLongReads() });
});

after(async () => {
  events.close();
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const ids = async (query: Parameters<GatewayLogs["list"]>[3], page = PAGE): Promise<readonly string[]> =>
  (await logs.list(READER, account, "gw", query, page)).items.map((item) => item.id);

test("a gateway's logs are listed newest first, with the API's fields, and without other gateways or accounts", async () => {
  const { items, ...info } = await logs.list(READER, account, "gw", {}, PAGE);
  assert.deepEqual(info, { page: 1, per_page: 20, total_count: 3 });
  assert.deepEqual(
    items.map((item) => item.id),
    ["01ROW3000", "01ROW2000", "01ROW1000"],
  );
  assert.deepEqual(items[2], {
    id: "01ROW1000",
    created_at: "1970-01-01T00:00:01.000Z",
    provider: "openai",
    model: "gpt-4o-mini",
    model_type: "",
    path: "/chat/completions",
    success: true,
    cached: false,
    duration: 12,
    tokens_in: 3,
    tokens_out: null,
    cost: null,
    custom_cost: false,
    metadata: "",
    request_type: "",
    request_content_type: "application/json",
    response_content_type: "application/json",
    status_code: 200,
    step: 0,
    event_id: "",
    user_agent: "",
    time_to_first_byte: null,
    tokens_in_cached: null,
    tokens_in_cache_written: null,
    tokens_out_reasoning: null,
    tokens_estimated: false,
    authentication: false,
    compatibility_mode: false,
    dlp_action: "",
    guardrail_action: "",
    guardrail_findings: "",
    feedback: null,
    score: null,
  });
});

test("lists are sorted, searched and paged", async () => {
  assert.deepEqual(await ids({ order_by: "model", order_by_direction: "asc" }), ["01ROW3000", "01ROW2000", "01ROW1000"]);
  assert.deepEqual(await ids({ order_by: "success", direction: "asc" }), ["01ROW2000", "01ROW1000", "01ROW3000"]);
  assert.deepEqual(await ids({ direction: "desc", order_by_direction: "asc" }), ["01ROW1000", "01ROW2000", "01ROW3000"]);
  assert.deepEqual(await ids({ search: "embed" }), ["01ROW3000"]);
  assert.deepEqual(await ids({ search: "%" }), []);
  assert.deepEqual(await ids({}, { page: 2, per_page: 2 }), ["01ROW1000"]);
  assert.deepEqual(await ids({}, { page: 9, per_page: 2 }), []);
  assert.deepEqual((await logs.list(READER, account, "empty", {}, PAGE)).items, []);
});

test("a log is found by its ID only in its own gateway", async () => {
  const { id, request_size, response_size } = await logs.get(account, "gw", "01ROW1000");
  assert.deepEqual([id, request_size, response_size], ["01ROW1000", 100, 200]);
  const isMissing = (error: unknown): boolean => error instanceof PlatformError && error.code === 7002 && error.status === 404;
  for (const [owner, gateway, log] of [
    [account, "gw", "01ROW4000"],
    [account, "gw", "01ROW5000"],
    [account, "absent", "01ROW1000"],
    ["b".repeat(32), "gw", "01ROW5000"],
  ] as const) {
    await assert.rejects(logs.get(owner, gateway, log), isMissing);
  }
  await assert.rejects(logs.list(READER, "b".repeat(32), "gw", {}, PAGE), isMissing);
});

test("logs of a deleted gateway disappear at once, and late ones stay invisible when its name is reused", async () => {
  const call = { actor: systemActor("test"), request_id: "r", rev: null };
  const settings = {
    cache_invalidate_on_update: false,
    cache_ttl: null,
    collect_logs: true,
    rate_limiting_interval: null,
    rate_limiting_limit: null,
  };
  const clock = fixedClock("1970-01-01T00:00:00Z");
  const gateways = createGateways({ store, sealer: createSealer(Buffer.alloc(32, 7)), clock, logs: events });
  const again = createGatewayLogs({ store, clock, logs: events, longReads: createLongReads() });
  await gateways.create(call, account, { id: "again", ...settings });
  const insert = (rows: readonly GatewayLogRow[]): void => {
    const database = openEventDatabase(path);
    database.insert([packed("gateway_logs", rows)]);
    database.close();
  };
  insert([row(10, { gateway_id: "again" }), row(20, { gateway_id: "again" })]);
  const listed = async (): Promise<unknown> => {
    const { items, total_count } = await again.list(READER, account, "again", {}, PAGE);
    return [items.map(({ id }) => id), total_count];
  };
  assert.deepEqual(await listed(), [["01ROW20", "01ROW10"], 2]);
  await gateways.delete(call, account, "again");
  await assert.rejects(listed(), /Not Found/);
  assert.equal(await events.count({ account_id: account, gateway_id: "again" }, { filters: [], search: "" }), 0);
  // A request that was under way when the gateway went.
  insert([row(30, { gateway_id: "again" })]);
  clock.advance(1000);
  await gateways.create(call, account, { id: "again", ...settings });
  assert.deepEqual(await listed(), [[], 0]);
  insert([row(1000, { id: "01NEW", gateway_id: "again" })]);
  assert.deepEqual(await listed(), [["01NEW"], 1]);
  await assert.rejects(again.get(account, "again", "01ROW30"), /no such log/);
});
