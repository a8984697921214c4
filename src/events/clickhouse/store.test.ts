import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type ClickHouseStub, refusal, startClickHouseStub } from "../../../test/support/clickhouse-stub.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { SpoolFullError } from "#events/spool/spool.ts";
import { packed, packedRequests, testRequestEvent, testRequestRow } from "#events/testing/rows.ts";
import { type ClickHouseStore, openClickHouseStore } from "./store.ts";
import { insertedColumns } from "./tables.ts";

function setUp(t: TestContext, stub: ClickHouseStub, directory = mkdtempSync(join(tmpdir(), "selvedge-clickhouse-"))) {
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const logged: string[] = [];
  const metrics = createMetrics();
  // Rows gather for a second of this clock, which each look moves on.
  let monotonic = 0;
  const open = (bytesMax = 1e9): ClickHouseStore => {
    const store = openClickHouseStore({
      ...{ place: { url: stub.url, ca: "" }, directory, bytesMax, metrics, nowMs: () => 1_700_000_000_000 },
      monotonicMs: () => (monotonic += 600),
      log: (level, message, fields) => logged.push(`${level}: ${message} ${JSON.stringify(fields)}`),
    });
    t.after(() => store.close());
    return store;
  };
  const metric = (name: string): number =>
    metrics
      .samples()
      .filter((sample) => sample.name === name)
      .reduce((sum, { value }) => sum + value, 0);
  return { directory, logged, metric, open };
}

const rays = (stub: ClickHouseStub): readonly unknown[] => {
  const at = insertedColumns("requests").indexOf("ray_id");
  return (stub.stored.get("selvedge_requests") ?? []).map((row) => row[at]);
};
const request = (ray_id: string) => packed("requests", [testRequestRow({ ray_id })]);
const batchOf = (from: number, to: number) => ({
  ...({ node: "fra-1", source: "rows", epoch: "e" } as const),
  ...{ from: { segment: 1, at: from }, to: { segment: 1, at: to }, bytes: new Uint8Array() },
});

test("rows wait on the disk while ClickHouse is away, and are stored once whatever is cut off", async (t) => {
  const stub = await startClickHouseStub(t);
  const { logged, metric, open } = setUp(t, stub);
  stub.fault = (response) => response.destroy();
  const store = open();
  for (let i = 0; i < 5; i++) store.keep([request(`${i}`)]);
  await eventually(() => metric("selvedge_events_clickhouse_failures_total") > 1);
  await eventually(() => metric("selvedge_events_clickhouse_spool_bytes") > 0);
  assert.equal(metric("selvedge_events_clickhouse_up"), 0);
  assert.match(logged.join("\n"), /^warn: ClickHouse does not take events; .*$/, "said once");
  await store.close();
  stub.fault = null;
  const again = open();
  again.keep([packedRequests([[testRequestRow({ ray_id: "5" }), [testRequestEvent()]]])]);
  await eventually(() => rays(stub).length === 6);
  // The answer is lost on the way: the block is sent again as it was.
  stub.losesAnswers = true;
  const before = metric("selvedge_events_clickhouse_failures_total");
  again.keep([request("6")]);
  await eventually(() => metric("selvedge_events_clickhouse_failures_total") > before + 1);
  stub.losesAnswers = false;
  await eventually(() => metric("selvedge_events_clickhouse_spool_bytes") === 0);
  assert.deepEqual(rays(stub), ["0", "1", "2", "3", "4", "5", "6"]);
  assert.equal(stub.stored.get("selvedge_security_events")?.length, 1);
  assert.equal(metric("selvedge_events_clickhouse_up"), 1);
  assert.equal(metric("selvedge_events_clickhouse_rows_total"), 8);
  assert.ok(logged.every((line) => !line.includes("pa%40ss") && !line.includes("pa@ss")));
});

test("a block has the same token after a restart, and a batch of a node in every server", async (t) => {
  const stub = await startClickHouseStub(t);
  const [one, other] = [setUp(t, stub), setUp(t, stub)];
  const inserts = (): ReadonlySet<string> => new Set(stub.calls.filter((call) => /^[0-9a-f]{40}-requests$/.test(call)));
  // Only what follows the statements that make tables fails.
  stub.fault = (response, statement) => (/^[0-9a-f]{40}-/.test(statement) ? refusal(252)(response) : response.end());
  const first = one.open();
  first.keep([request("a")]);
  await eventually(() => inserts().size === 1);
  await first.close();
  const [token] = inserts();
  const second = one.open();
  await eventually(() => stub.calls.filter((call) => call === token).length > 1);
  assert.equal(inserts().size, 1);
  stub.fault = null;
  await eventually(() => rays(stub).length === 1);
  second.keepBatch(batchOf(0, 10), [request("b")]);
  await eventually(() => rays(stub).length === 2);
  const third = other.open();
  third.keepBatch(batchOf(0, 10), [request("b")]);
  third.keepBatch(batchOf(10, 20), [request("c")]);
  await eventually(() => rays(stub).length === 3);
  assert.deepEqual(rays(stub), ["a", "b", "c"], "the second server's copy of the batch adds nothing");
  const node = insertedColumns("requests").indexOf("node");
  assert.deepEqual(
    stub.stored.get("selvedge_requests")?.map((row) => row[node]),
    ["", "fra-1", "fra-1"],
  );
});

test("the spool is bounded, and knows the batch of a node that was kept last", async (t) => {
  const stub = await startClickHouseStub(t);
  stub.fault = (response) => response.destroy();
  const { open } = setUp(t, stub);
  const store = open(3_000);
  let kept = 0;
  assert.throws(() => {
    for (; ; kept++) store.keep([request(`${kept}`)]);
  }, SpoolFullError);
  assert.ok(kept > 2);
  await store.close();
  const more = open();
  assert.equal(more.newestBatch(), null);
  more.keepBatch(batchOf(7, 9), [request("x")]);
  await more.close();
  const { bytes: _, ...wanted } = batchOf(7, 9);
  const last = open();
  assert.deepEqual(last.newestBatch(), wanted);
  stub.fault = null;
  await eventually(() => rays(stub).length === kept + 1);
});

test("a file that an ending process has released is not waited for", async (t) => {
  const stub = await startClickHouseStub(t);
  stub.fault = (response) => response.destroy();
  const { directory, metric, open } = setUp(t, stub);
  const store = open();
  store.keepBatch(batchOf(0, 1), [request("gone")]);
  store.keepBatch(batchOf(1, 2), [request("left")]);
  rmSync(join(directory, "0000000001.log"));
  stub.fault = null;
  await eventually(() => rays(stub).length === 1);
  await eventually(() => metric("selvedge_events_clickhouse_spool_bytes") === 0);
  assert.deepEqual(rays(stub), ["left"]);
});

test("a block that ClickHouse can never store is set aside, and the next ones are stored", async (t) => {
  const stub = await startClickHouseStub(t);
  const { directory, logged, metric, open } = setUp(t, stub);
  const store = open();
  stub.fault = (response, statement) => (/^[0-9a-f]{40}-/.test(statement) ? refusal(27, "Cannot parse input")(response) : response.end());
  store.keep([request("bad")]);
  await eventually(() => metric("selvedge_events_clickhouse_refused_total") === 1);
  stub.fault = null;
  store.keep([request("good")]);
  await eventually(() => rays(stub).length === 1);
  assert.deepEqual(rays(stub), ["good"]);
  assert.equal(readdirSync(directory).filter((name) => name.endsWith(".refused")).length, 1);
  assert.match(logged.join("\n"), /error: ClickHouse cannot store a block of events, which is set aside .*Cannot parse input/);
  assert.equal(stub.calls.filter((call) => /^[0-9a-f]{40}-/.test(call)).length, 4, "three attempts, and the next block");
});

test("tables of a later version get nothing, and expired days are dropped", async (t) => {
  const stub = await startClickHouseStub(t);
  const { logged, open } = setUp(t, stub);
  stub.answers.set("SELECT max(version)", [{ version: 2 }]);
  const store = open();
  store.keep([request("a")]);
  await eventually(() => logged.length > 0);
  assert.match(logged[0]!, /are of version 2, and this server knows version 1/);
  assert.equal(rays(stub).length, 0);
  stub.answers.set("SELECT max(version)", []);
  await eventually(() => rays(stub).length === 1);
  assert.ok(stub.calls.includes("INSERT INTO selvedge_schema (version) VALUES (1)"));
  stub.answers.set("SELECT DISTINCT partition", [{ partition: "19000" }, { partition: "x'; DROP" }]);
  store.tidy(19_001 * 86_400_000 + 5);
  await eventually(() => stub.calls.includes("ALTER TABLE selvedge_dns_queries DROP PARTITION 19000"));
  assert.equal(stub.calls.filter((call) => call.startsWith("ALTER TABLE") && call.includes("DROP")).length, 3);
});
