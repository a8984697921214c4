import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { createLazyWorker, type LazyWorker } from "./lazy-worker.ts";
import type { Log } from "#app/log/log.ts";
import { startPlaneWorker } from "./plane-worker.ts";
import { channel } from "./thread-ports.ts";

/** A thread that answers each word that comes through its ports with the same word. `before`: what it does at its start. */
const thread = (before = ""): string =>
  `data:text/javascript,${encodeURIComponent(`
      import { existsSync, writeFileSync } from "node:fs";
      import { parentPort, workerData } from "node:worker_threads";
      ${before}
      parentPort.on("message", ({ type, port, request }) => {
        if (type === "drain") process.exit();
        if (type === "metrics") parentPort.postMessage({ type: "metrics", request, samples: [] });
        if (type === "attach") port.on("message", (word) => port.postMessage(word));
      });
      parentPort.postMessage({ type: "listening", addresses: {} });
    `)}`;

function late(t: TestContext, script: string, path = ""): { readonly worker: LazyWorker; starts(): number; restarts(): number } {
  const log = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log;
  let [starts, restarts] = [0, 0];
  const worker = createLazyWorker("late", () =>
    startPlaneWorker({
      ...{ name: "late", script, log, isLazy: true },
      connect: () => {
        starts++;
        return { workerData: { path }, transfer: [] };
      },
      onRestart: () => restarts++,
    }),
  );
  t.after(() => worker.stop(0));
  return { worker, starts: () => starts, restarts: () => restarts };
}

/** The words that come back through a port that was attached. */
function talk(worker: LazyWorker): { send(word: string): void; readonly heard: readonly unknown[]; close(): void } {
  const { near, far } = channel();
  worker.attach(near);
  const heard: unknown[] = [];
  far.on("message", (word: unknown) => heard.push(word)).unref();
  return { send: (word) => far.postMessage(word), heard, close: () => far.close() };
}

test("an unneeded thread is not started, and counts as up", async (t) => {
  const { worker, starts } = late(t, thread());
  assert.deepEqual(await worker.listening, {});
  assert.deepEqual([worker.isUp(), await worker.answers(1), await worker.metrics()], [true, true, []]);
  worker.attach(channel().near);
  worker.reconnect("events", channel().near);
  await worker.stop(0);
  worker.wake();
  assert.equal(starts(), 0);
});

test("messages sent before the start arrive after it, from all existing senders", async (t) => {
  const { worker, starts } = late(t, thread());
  const [one, gone, two] = [talk(worker), talk(worker), talk(worker)];
  one.send("before");
  gone.close();
  await new Promise((resolve) => setTimeout(resolve, 20));
  worker.wake();
  worker.wake();
  two.send("while it starts");
  await eventually(() => one.heard.length + two.heard.length === 2);
  assert.deepEqual([one.heard, two.heard, starts()], [["before"], ["while it starts"], 1]);
  assert.deepEqual([worker.isUp(), await worker.answers(60_000)], [true, true]);
  const three = talk(worker);
  three.send("afterwards");
  await eventually(() => three.heard.length === 1);
});

test("a thread that fails to start at first is started again", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-late-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const once = `if (!existsSync(workerData.path)) { writeFileSync(workerData.path, ""); throw new Error("not yet"); }`;
  const { worker, starts, restarts } = late(t, thread(once), join(directory, "tried"));
  worker.wake();
  await eventually(() => restarts() === 1);
  assert.equal(starts(), 2);
  const one = talk(worker);
  one.send("again");
  await eventually(() => one.heard.length === 1);
});
