import assert from "node:assert/strict";
import { test } from "node:test";
import { startPlaneWorker } from "./plane-worker.ts";
import type { Log } from "#app/log/log.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log;

/** A thread that listens at once, answers questions for numbers, and loops without end after `loops` of them. */
const thread = (loops: number): string =>
  `data:text/javascript,${encodeURIComponent(`
      import { parentPort } from "node:worker_threads";
      let asked = 0;
      parentPort.on("message", (message) => {
        if (message.type === "drain") parentPort.postMessage({ type: "drained" });
        if (message.type !== "metrics") return;
        parentPort.postMessage({ type: "metrics", request: message.request, samples: [] });
        if (++asked === ${loops}) while (true);
      });
      parentPort.postMessage({ type: "listening", addresses: {} });
    `)}`;

test("a thread in an endless loop is up but does not answer", async (t) => {
  const worker = startPlaneWorker({ name: "plane", script: thread(2), log, connect: () => ({ workerData: {}, transfer: [] }) });
  t.after(() => worker.stop(0));
  await worker.listening;
  assert.deepEqual([worker.isUp(), await worker.answers(5_000)], [true, true]);
  assert.deepEqual(await worker.metrics(), []);
  assert.deepEqual([worker.isUp(), await worker.answers(200)], [true, false]);
});
