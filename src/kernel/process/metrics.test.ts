import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "./metrics.ts";

test("the same name and labels are the same metric", () => {
  const metrics = createMetrics();
  metrics.counter("queries_total", "Queries.", { transport: "udp" }).value += 2;
  metrics.counter("queries_total", "Queries.", { transport: "udp" }).value += 1;
  metrics.counter("queries_total", "Queries.", { transport: "tcp" }).value += 5;
  metrics.gauge("connections", "Open connections.").value = 7;
  assert.deepEqual(metrics.samples(), [
    { name: "queries_total", help: "Queries.", type: "counter", labels: { transport: "udp" }, value: 3 },
    { name: "queries_total", help: "Queries.", type: "counter", labels: { transport: "tcp" }, value: 5 },
    { name: "connections", help: "Open connections.", type: "gauge", labels: {}, value: 7 },
  ]);
});

test("samples are a copy that later increments do not change", () => {
  const metrics = createMetrics();
  const counter = metrics.counter("requests_total", "Requests.");
  const before = metrics.samples();
  counter.value += 1;
  assert.equal(before[0]?.value, 0);
});
