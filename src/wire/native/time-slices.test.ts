import assert from "node:assert/strict";
import { getPriority, release } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { loadTimeSlices } from "./time-slices.ts";

const slices = await loadTimeSlices();
/** Since then a thread's wish for its slices is heard. */
const hears = (([major = 0, minor = 0]) => major > 6 || (major === 6 && minor >= 12))(release().split(".").map(Number));

test("a thread that requests short time slices gets them, and keeps its priority", { skip: !slices && "koffi does not load here" }, () => {
  assert.ok(slices);
  const priority = getPriority();
  assert.equal(slices.askFor(100_000), hears);
  assert.equal(slices.sliceNs(), hears ? 100_000 : 0);
  assert.equal(slices.askFor(2_000_000), hears);
  assert.equal(slices.sliceNs(), hears ? 2_000_000 : 0);
  assert.equal(getPriority(), priority);
});

test("a thread can set the time slices of another thread by its number", { skip: !slices && "koffi does not load here" }, async () => {
  assert.ok(slices);
  const before = slices.sliceNs();
  const source = `
    const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(new URL("../../kernel/process/thread-priority.ts", import.meta.url).href)}).then(({ systemThread }) => {
      parentPort.postMessage(systemThread());
      parentPort.once("message", () => undefined);
    });`;
  const worker = new Worker(source, { eval: true });
  const thread = await new Promise<number>((resolve, reject) => worker.once("message", resolve).once("error", reject));
  assert.ok(thread > 0 && thread !== process.pid);
  assert.equal(slices.askFor(50_000_000, thread), hears);
  assert.equal(slices.sliceNs(thread), hears ? 50_000_000 : 0);
  assert.equal(slices.sliceNs(), before, "ours are as before");
  await worker.terminate();
});
