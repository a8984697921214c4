import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { openEventDatabase } from "#events/database/database.ts";
import { packed, testGatewayRow } from "#events/testing/rows.ts";
import { openGatewayLogReads } from "./log-reads.ts";
import type { PieceLimits } from "./log-pieces.ts";

const scope = (gateway_id: string) => ({ account_id: "mine", gateway_id });
const QUERY = { filters: [], search: "", orderBy: "created_at", direction: "desc", limit: 10, offset: 0 } as const;
const AMONG = { filters: [], search: "nowhere" };

/** 300 logs of `large`, one in each millisecond from 1000, and one of `small`. */
function readsOf(t: TestContext, limits: PieceLimits) {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-log-reads-"));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path);
  const large = Array.from({ length: 300 }, (_, i) => testGatewayRow({ ...scope("large"), id: `l${i}`, at_ms: 1000 + i, cost: i % 7 }));
  database.insert([packed("gateway_logs", [...large, testGatewayRow({ ...scope("small"), id: "s" })])]);
  database.close();
  const reads = openGatewayLogReads(path, limits);
  t.after(() => {
    reads.close();
    rmSync(directory, { recursive: true });
  });
  return reads;
}

test("a search through many logs lets reads of other gateways pass", async (t) => {
  const reads = readsOf(t, { rows: 2, timeMs: 600_000 });
  const ended: string[] = [];
  const long = reads.bounds(scope("large"), AMONG).then(() => ended.push("large"));
  const short = turn()
    .then(() => reads.list(scope("small"), QUERY))
    .then((rows) => ended.push(...rows.map(({ id }) => id)));
  await Promise.all([long, short]);
  assert.deepEqual(ended, ["s", "large"]);
});

test("a search through more logs than its time allows is refused, and a filter of the time makes it possible", async (t) => {
  const reads = readsOf(t, { rows: 100, timeMs: -1 });
  await assert.rejects(reads.count(scope("large"), AMONG), { errorName: "gateway_input_invalid", message: /created_at/ });
  const late = { key: "created_at", operator: "gt", value: [1250] } as const;
  assert.equal(await reads.count(scope("large"), { filters: [late], search: "" }), 49);
});

test("a page far behind is found by time without keys in memory, and refused in another order", async (t) => {
  const reads = readsOf(t, { rows: 100, timeMs: 600_000 });
  const page = await reads.list(scope("large"), { ...QUERY, offset: 250, limit: 3 });
  assert.deepEqual(
    page.map(({ id }) => id),
    ["l49", "l48", "l47"],
  );
  await assert.rejects(reads.list(scope("large"), { ...QUERY, orderBy: "cost", offset: 1_000_000 }), {
    errorName: "gateway_input_invalid",
  });
});
