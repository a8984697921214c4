import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MessageChannel, Worker } from "node:worker_threads";
import type { FromWorker, ToWorker } from "#kernel/process/worker-protocol.ts";
import type { RowsMessage } from "#events/rows/messages.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { testEdgeConfig } from "#edge/testing/config.ts";
import { exchangeRaw, httpOrigin, siteOps } from "#edge/testing/edge.ts";
import type { EdgeWorkerData } from "./worker.ts";

test("the worker serves the snapshot of its feed, reports metrics, hands over rows and drains", async () => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-edge-"));
  const origin = await httpOrigin((_req, res) => res.end("hello"));
  const [feed, events, tap] = [new MessageChannel(), new MessageChannel(), new MessageChannel()];
  const near = createMessagePortFeed(feed.port1);
  near.onMessage((message) => {
    if (message.type !== "subscribe") return;
    near.send({ type: "full", history: "h", rev: 1, ops: siteOps(origin.port) });
    near.send({ type: "live", rev: 1 });
  });
  const tables: string[] = [];
  events.port1.on("message", (message: RowsMessage) => {
    tables.push(...message.tables.map(({ table }) => table));
    events.port1.postMessage({ type: "written", batch: message.batch });
  });
  await writeFile(join(directory, "seal.key"), randomBytes(32));
  await writeFile(join(directory, "ca.pem"), "");
  const data: EdgeWorkerData = {
    name: "edge-1",
    config: testEdgeConfig(),
    feed: feed.port2,
    events: events.port2,
    tap: tap.port2,
    lastGoodPath: join(directory, "last-good"),
    sealKeyPath: join(directory, "seal.key"),
    localRootPath: join(directory, "ca.pem"),
  };
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: data,
    transferList: [feed.port2, events.port2, tap.port2],
  });
  const failed = new Promise<never>((_resolve, reject) => worker.once("error", reject));
  const heard = <T extends FromWorker["type"]>(type: T): Promise<Extract<FromWorker, { type: T }>> =>
    Promise.race([
      failed,
      new Promise<Extract<FromWorker, { type: T }>>((resolve) =>
        worker.on("message", (message: FromWorker) => message.type === type && resolve(message as Extract<FromWorker, { type: T }>)),
      ),
    ]);
  const say = (message: ToWorker): void => worker.postMessage(message);
  try {
    const { addresses } = await heard("listening");
    assert.ok(addresses["http"]! > 0 && addresses["https"]! > 0);
    assert.match(
      await exchangeRaw(addresses["http"]!, "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n"),
      /^HTTP\/1\.1 200 [^]*hello/,
    );
    const metrics = heard("metrics");
    say({ type: "metrics", request: 7 });
    assert.equal((await metrics).request, 7);
    assert.equal((await metrics).samples.find((sample) => sample.name === "selvedge_edge_requests_total")?.value, 1);
    const drained = heard("drained");
    say({ type: "drain", idleMs: 0, timeoutMs: 1_000 });
    await drained;
    assert.deepEqual(tables, ["requests"]);
  } finally {
    await worker.terminate();
    for (const channel of [feed, events, tap]) channel.port1.close();
    origin.close();
    await rm(directory, { recursive: true });
  }
});
