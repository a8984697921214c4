import assert from "node:assert/strict";
import { getPriority } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

test("a background thread leaves the priority of the others unchanged", { skip: process.platform !== "linux" }, async () => {
  const before = getPriority(0);
  const source = `
    const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(new URL("./thread-priority.ts", import.meta.url).href)}).then(({ runInBackground }) => {
      runInBackground();
      parentPort.postMessage(require("node:os").getPriority(0));
    });`;
  const thread = new Worker(source, { eval: true });
  const inThread = await new Promise<number>((resolve, reject) => thread.once("message", resolve).once("error", reject));
  await thread.terminate();
  // 5 is the niceness of the background; the tests themselves may run with a lower priority.
  assert.equal(inThread, Math.max(before, 5));
  assert.equal(getPriority(0), before);
});
