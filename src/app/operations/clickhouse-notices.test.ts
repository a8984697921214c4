import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Config } from "#app/config/config.ts";
import { clickHouseNotices } from "./clickhouse-notices.ts";

test("while ClickHouse does not take events, a notice says how many bytes wait", async () => {
  const metrics = createMetrics();
  const worker = { name: "events", metrics: async () => metrics.samples() };
  const notices = (url: string) => clickHouseNotices({ events: { url } } as Config, [worker, { ...worker, name: "edge" }]);
  assert.deepEqual(await notices("http://clickhouse"), []);
  const up = metrics.gauge("selvedge_events_clickhouse_up", "");
  const bytes = metrics.gauge("selvedge_events_clickhouse_spool_bytes", "");
  up.value = 0;
  assert.deepEqual(await notices("http://clickhouse"), [], "nothing was sent yet");
  bytes.value = 1234;
  assert.deepEqual(await notices("http://clickhouse"), ["ClickHouse does not take events: 1234 bytes wait on this disk"]);
  assert.deepEqual(await notices(""), []);
  up.value = 1;
  assert.deepEqual(await notices("http://clickhouse"), []);
});
