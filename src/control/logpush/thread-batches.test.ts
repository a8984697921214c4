import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { BatchOrder } from "./batch-order.ts";
import { type BatchAnswer, type BatchRequest, createThreadBatches } from "./thread-batches.ts";

const ORDER: BatchOrder = {
  directory: "/nowhere",
  from: null,
  account_id: "a",
  since_ms: 0,
  gateways: [],
  output: null,
  bounds: { bytesMax: 1, recordsMax: 1 },
};
const BATCH = { records: 1, firstMs: 5, body: Buffer.from("x"), next: { segment: 1, at: 2 }, isFull: false };

/** A thread that answers by what it is given to answer. */
function thread(answer: (request: BatchRequest, port: MessagePort) => void): { port: MessagePort; far: MessagePort } {
  const { port1, port2 } = new MessageChannel();
  port2.on("message", (request: BatchRequest) => answer(request, port2));
  return { port: port1, far: port2 };
}

test("a request goes to the thread that connected last, and unreadable batches and the thread's end are reported", async () => {
  const batches = createThreadBatches();
  await assert.rejects(batches.read(ORDER), /is not running/);
  const first = thread(({ request }, port) => port.postMessage({ request, error: "no such key" } satisfies BatchAnswer));
  batches.connect(first.port);
  await assert.rejects(batches.read(ORDER), /no such key/);
  const silent = thread(() => undefined);
  batches.connect(silent.port);
  const lost = batches.read(ORDER);
  silent.far.close();
  await assert.rejects(lost, /has ended/);
  const third = thread(({ request, order }, port) => {
    assert.deepEqual(order, ORDER);
    port.postMessage({ request, batch: BATCH } satisfies BatchAnswer);
  });
  batches.connect(third.port);
  const { body, ...rest } = await batches.read(ORDER);
  assert.deepEqual([Buffer.from(body).toString(), rest.records, rest.next], ["x", 1, { segment: 1, at: 2 }]);
  batches.close();
  first.far.close();
});
