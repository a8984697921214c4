import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { RowsMessage } from "#events/rows/messages.ts";
import { createEventSink } from "./sink.ts";
import { testGatewayRow, testRequestEvent, testRequestRow } from "#events/testing/rows.ts";
import { settled } from "../../../test/support/eventually.ts";

/** The writer's end: keeps what came and confirms only when told. */
function slowWriter(port: MessagePort): { readonly batches: RowsMessage[]; confirm(): void; next(): Promise<void> } {
  const batches: RowsMessage[] = [];
  let confirmed = 0;
  let wake: (() => void) | undefined;
  port.on("message", (message: RowsMessage) => {
    batches.push(message);
    wake?.();
  });
  return {
    batches,
    confirm: () => {
      for (; confirmed < batches.length; confirmed++) port.postMessage({ type: "written", batch: batches[confirmed]?.batch });
    },
    next: () => new Promise((resolve) => (wake = resolve)),
  };
}

const dropped = (metrics: ReturnType<typeof createMetrics>, table: string): number | undefined =>
  metrics.samples().find((sample) => sample.name === "selvedge_events_dropped_total" && sample.labels["table"] === table)?.value;

test("rows of one interval are sent together", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port2.close());
  const writer = slowWriter(port2);
  const sink = createEventSink({ port: port1, metrics: createMetrics(), flushMs: 5 });
  sink.push("requests", testRequestRow());
  sink.push("gateway_logs", testGatewayRow());
  sink.push("requests", testRequestRow());
  await writer.next();
  assert.equal(writer.batches.length, 1);
  assert.deepEqual(
    writer.batches[0]?.tables.map((part) => part.table),
    ["requests", "gateway_logs"],
  );
  assert.equal(writer.batches[0]?.tables[0]?.rows, 2);
});

test("rows beyond the limit are dropped and counted, and the writer's confirmation makes space for new rows", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port2.close());
  const writer = slowWriter(port2);
  const metrics = createMetrics();
  const sink = createEventSink({ port: port1, metrics, flushMs: 1, rowsMax: 3 });
  for (let n = 0; n < 5; n++) sink.push("requests", testRequestRow());
  assert.equal(dropped(metrics, "requests"), 2);
  await writer.next();
  sink.push("gateway_logs", testGatewayRow());
  assert.equal(dropped(metrics, "gateway_logs"), 1);
  writer.confirm();
  await settled(20);
  sink.push("gateway_logs", testGatewayRow());
  assert.equal(dropped(metrics, "gateway_logs"), 1);
});

test("a request and its events are sent together or dropped together, and each is counted", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port2.close());
  const writer = slowWriter(port2);
  const metrics = createMetrics();
  const sink = createEventSink({ port: port1, metrics, flushMs: 1, rowsMax: 4 });
  const events = [testRequestEvent(), testRequestEvent({ rule_id: "other" })];
  for (let n = 0; n < 3; n++) sink.pushRequest(testRequestRow(), events);
  await writer.next();
  assert.deepEqual([dropped(metrics, "requests"), dropped(metrics, "security_events")], [1, 2]);
  const [packed] = writer.batches[0]?.tables ?? [];
  assert.deepEqual([packed?.rows, packed?.events?.rows], [2, 4]);
});

test("long rows are sent in smaller batches, and waiting rows have a limit in bytes", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port2.close());
  const writer = slowWriter(port2);
  const metrics = createMetrics();
  const sink = createEventSink({ port: port1, metrics, flushMs: 60_000 });
  const megabyte = "x".repeat(1024 * 1024);
  for (let n = 0; n < 100; n++) sink.push("requests", testRequestRow({ path: `/${n}${megabyte}` }));
  const lost = dropped(metrics, "requests") ?? 0;
  assert.ok(lost > 30 && lost < 40, String(lost));
  while (writer.batches.length < 5) await writer.next();
  assert.ok((writer.batches[0]?.tables[0]?.rows ?? Infinity) < 10);
});

test("close sends the waiting rows and returns once the writer confirms them", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port2.close());
  const writer = slowWriter(port2);
  const metrics = createMetrics();
  const sink = createEventSink({ port: port1, metrics, flushMs: 60_000 });
  sink.push("requests", testRequestRow());
  let closed = false;
  const closing = sink.close(10_000).then(() => (closed = true));
  await writer.next();
  assert.equal(closed, false);
  writer.confirm();
  await closing;
  sink.push("requests", testRequestRow());
  assert.equal(dropped(metrics, "requests"), 1, "after close a row is dropped and counted");
});

test("close does not wait for a writer that has ended", async () => {
  const { port1, port2 } = new MessageChannel();
  const sink = createEventSink({ port: port1, metrics: createMetrics() });
  sink.push("requests", testRequestRow());
  port2.close();
  await sink.close(30_000);
});

test("rows that are lost with an ended writer are counted, and the next writer gets later rows", async (t) => {
  const [first, second] = [new MessageChannel(), new MessageChannel()];
  t.after(() => second.port2.close());
  const writer = slowWriter(first.port2);
  const metrics = createMetrics();
  const sink = createEventSink({ port: first.port1, metrics, flushMs: 1 });
  for (let n = 0; n < 3; n++) sink.push("requests", testRequestRow());
  await writer.next();
  first.port2.close();
  await settled(20);
  const next = slowWriter(second.port2);
  sink.push("requests", testRequestRow());
  sink.reconnect(second.port1);
  await next.next();
  assert.equal(next.batches[0]?.tables[0]?.rows, 1);
  assert.equal(metrics.samples().find(({ name }) => name === "selvedge_events_unconfirmed_rows_total")?.value, 3);
  assert.equal(dropped(metrics, "requests"), 0);
});
