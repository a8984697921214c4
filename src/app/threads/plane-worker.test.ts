import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadKoffi } from "#wire/native/koffi.ts";
import { startPlaneWorker } from "./plane-worker.ts";
import { createLog, type Log } from "#app/log/log.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log;

/** A thread that listens at once, answers questions for numbers, and loops without end after `loops` of them. */
const thread = (loops: number): string =>
  `data:text/javascript,${encodeURIComponent(`
      import { parentPort } from "node:worker_threads";
      let asked = 0;
      parentPort.on("message", (message) => {
        if (message.type === "drain") process.exit();
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

test("lines of a thread that runs already follow the level of its area", async (t) => {
  const lines: string[] = [];
  const leveled = createLog({ level: "info", levels: {} }, { write: (line) => void lines.push(line) });
  const script = `data:text/javascript,${encodeURIComponent(`
      import { parentPort } from "node:worker_threads";
      parentPort.on("message", (message) => {
        if (message.type === "drain") process.exit();
        if (message.type !== "metrics") return;
        parentPort.postMessage({ type: "log", level: "debug", message: "asked" });
        parentPort.postMessage({ type: "metrics", request: message.request, samples: [] });
      });
      parentPort.postMessage({ type: "listening", addresses: {} });
    `)}`;
  const worker = startPlaneWorker({ name: "edge-2", script, log: leveled, connect: () => ({ workerData: {}, transfer: [] }) });
  t.after(() => worker.stop(0));
  await worker.listening;
  const linesWith = async (level: string | null): Promise<number> => {
    leveled.override("edge", level);
    assert.equal(await worker.answers(30_000), true);
    return lines.filter((line) => line.includes('"msg":"asked"')).length;
  };
  assert.deepEqual([await linesWith(null), await linesWith("debug"), await linesWith(null)], [0, 1, 1]);
});

const STOP_OFTEN = fileURLToPath(new URL("./testing/stop-often.ts", import.meta.url));
const koffi = await loadKoffi().catch(() => null);

test(
  "a thread that is stopped between native calls does not end the process",
  { skip: koffi === null && "koffi does not load here" },
  () => {
    const { status, signal, stderr } = spawnSync(process.execPath, [STOP_OFTEN], { encoding: "utf8" });
    assert.deepEqual([status, signal], [0, null], stderr.slice(0, 500));
  },
);
