import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { BroadcastChannel, MessageChannel } from "node:worker_threads";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { Log } from "#app/log/log.ts";
import { startPlaneWorker } from "#app/threads/plane-worker.ts";
import { channel } from "#app/threads/thread-ports.ts";
import { WATCH_LIMITS, type WatchLimits } from "#app/threads/watchdog.ts";
import type { DetectorWorkerData } from "#edge/detection/worker.ts";
import { createBodyTee, type BodyTee } from "#edge/detection/body-tee.ts";
import { beginTest } from "#edge/testing/subject.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { createPublisher } from "#snapshot/publisher.ts";
import { eventually } from "../support/eventually.ts";
import { createTestSource } from "../support/feed.ts";

/** As often as one can be ended and started again in a few seconds. */
const ENDS = 3;
const SHED = "selvedge_detection_shed_total";

const page = Buffer.from("<p>4716 4615 8332 2103, 4716461583322104 or so</p>\n".repeat(4000));
const BODIES: readonly (readonly [coding: string, bytes: Buffer])[] = [
  ["", page],
  ["gzip", gzipSync(page)],
  ["br", brotliCompressSync(page)],
  ["deflate", deflateSync(page)],
  ["zstd", zstdCompressSync(page)],
  ["gzip, br", brotliCompressSync(gzipSync(page))],
];

/** The detector's own thread, as the server starts it, with a tap beside it. */
async function detection(t: TestContext, watch: WatchLimits) {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-detector-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [lastGoodPath, sealKeyPath] = [join(directory, "last-good"), join(directory, "seal.key")];
  writeFileSync(sealKeyPath, Buffer.alloc(32, 7));
  const publisher = createPublisher({ source: createTestSource(), lastGoodPath });
  await publisher.start();
  t.after(() => publisher.close());
  const metrics = createMetrics();
  const { near, far } = channel();
  const tap = createBodyTee({ port: near, metrics });
  t.after(() => tap.close());
  let [restarts, silent] = [0, 0];
  const failures: unknown[] = [];
  const log = { debug() {}, info() {}, warn() {}, error: (fields: unknown) => failures.push(fields) } as unknown as Log;
  const faults = new BroadcastChannel("detector-faults");
  t.after(() => faults.close());
  const worker = startPlaneWorker({
    name: "detector",
    script: import.meta.resolve("../support/failing-detector.ts"),
    log,
    watch,
    onSilent: () => silent++,
    connect: () => {
      const [feed, events] = [channel(), new MessageChannel()];
      publisher.attach(createMessagePortFeed(feed.near));
      events.port1.unref();
      const data: DetectorWorkerData = { tap: [], events: events.port2, feed: feed.far, lastGoodPath, sealKeyPath };
      return { workerData: data, transfer: [events.port2, feed.far] };
    },
    onRestart: () => {
      const fresh = channel();
      worker.attach(fresh.far);
      tap.reconnect(fresh.near);
      restarts++;
    },
  });
  t.after(() => worker.stop(5_000));
  await worker.listening;
  worker.attach(far);
  const value = (name: string): number => metrics.samples().find((sample) => sample.name === name)?.value ?? 0;
  const scanned = async (): Promise<number> =>
    (await worker.metrics()).find(({ name }) => name === "selvedge_detection_scanned_total")?.value ?? 0;
  const fault = (name: "loop" | "fill"): void => faults.postMessage(name);
  return { tap, value, scanned, fault, failures, restarts: () => restarts, silent: () => silent };
}

const send = (tap: BodyTee, count: number): void => {
  for (let i = 0; i < count; i++) {
    const [content_encoding, bytes] = BODIES[i % BODIES.length]!;
    beginTest(tap, { content_encoding })?.last(bytes, 0, bytes.length);
  }
};

test("a detector in an endless loop is terminated and restarted, and its bodies are counted as shed", async (t) => {
  const { tap, value, scanned, fault, restarts, silent } = await detection(t, { everyMs: 200, cpuMs: 300, silentMs: 60_000 });
  for (let end = 1; end <= ENDS; end++) {
    const shedBefore = value(SHED);
    send(tap, 6);
    await eventually(async () => (await scanned()) >= 6);
    send(tap, 60);
    fault("loop");
    send(tap, 6);
    await eventually(() => restarts() === end);
    assert.ok(value(SHED) - shedBefore >= 6, "what came after it has looped");
    assert.ok(value(SHED) - shedBefore <= 66);
  }
  assert.equal(silent(), ENDS);
  send(tap, 6);
  await eventually(async () => (await scanned()) === 6);
});

test("a detector that runs out of memory is restarted, and the process continues", async (t) => {
  const { tap, value, scanned, fault, restarts, failures } = await detection(t, WATCH_LIMITS);
  send(tap, 6);
  await eventually(async () => (await scanned()) === 6);
  fault("fill");
  await eventually(() => restarts() === 1);
  assert.match(JSON.stringify(failures), /ERR_WORKER_OUT_OF_MEMORY/);
  assert.equal(value(SHED), 0);
  send(tap, 6);
  await eventually(async () => (await scanned()) === 6);
});
