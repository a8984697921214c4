import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { getHeapStatistics } from "node:v8";
import { eventually } from "../../../test/support/eventually.ts";
import { giveBackHeap, giveBackHeapWhenQuiet } from "./heap.ts";

test("giveBackHeap returns freed memory to the system", () => {
  const size = (): number => getHeapStatistics().total_physical_size;
  const before = size();
  let held: unknown[] = Array.from({ length: 400_000 }, (_, i) => ({ i, text: `object ${i}` }));
  const grown = size() - before;
  assert.equal(held.length, 400_000);
  held = [];
  assert.ok(giveBackHeap());
  assert.ok(size() - before < grown / 4, `grew by ${grown}, gave back ${before + grown - size()}`);
  assert.equal(typeof globalThis.gc, "undefined");
});

test("an idle thread returns unneeded memory, and again after it has grown", async () => {
  const collections: (boolean | undefined)[] = [];
  const held: unknown[] = [];
  giveBackHeapWhenQuiet({ bytesMax: 1_000_000_000, lookMs: 50, giveBack: (keepsCode) => collections.push(keepsCode) > 0 });
  for (const round of [1, 2]) {
    held.push(...Array.from({ length: 100_000 }, (_, i) => ({ i, text: `object ${i}` })));
    await eventually(() => collections.length >= round, 100);
  }
  // Code that runs by then stays compiled.
  assert.equal(collections[1], true);
  assert.equal(held.length, 200_000);
});

test("the first collection after the start also releases compiled code", async () => {
  const collections: (boolean | undefined)[] = [];
  giveBackHeapWhenQuiet({ bytesMax: 1_000_000_000, giveBack: (keepsCode) => collections.push(keepsCode) > 0 });
  await eventually(() => collections.length > 0, 100);
  assert.equal(collections[0], false);
});

test("a thread that has worked before it becomes idle keeps its compiled code", async () => {
  const collections: (boolean | undefined)[] = [];
  giveBackHeapWhenQuiet({ bytesMax: 1_000_000_000, lookMs: 50, giveBack: (keepsCode) => collections.push(keepsCode) > 0 });
  const held: unknown[] = Array.from({ length: 200_000 }, (_, i) => ({ i, text: `object ${i}` }));
  for (const start = process.threadCpuUsage().user; process.threadCpuUsage().user - start < 600_000;);
  await eventually(() => collections.length > 0, 100);
  assert.equal(collections[0], true);
  assert.equal(held.length, 200_000);
});

test("a thread with constant small work returns memory only after a long time", async () => {
  const held: unknown[] = Array.from({ length: 100_000 }, (_, i) => ({ i, text: `object ${i}` }));
  // More looks than it waits for after work.
  for (const { looksAmidWork, workedLooks, isAmid } of [
    { looksAmidWork: 1000, workedLooks: 40, isAmid: false },
    { looksAmidWork: 10, workedLooks: Number.POSITIVE_INFINITY, isAmid: true },
  ]) {
    let looks = 0;
    const collectedAmid: boolean[] = [];
    giveBackHeapWhenQuiet({
      ...{ bytesMax: 1_000_000_000, lookMs: 50, looksAmidWork },
      workDone: () => Math.min(++looks, workedLooks),
      giveBack: () => collectedAmid.push(looks <= workedLooks) > 0,
    });
    await eventually(() => collectedAmid.length > 0, 200);
    assert.equal(collectedAmid[0], isAmid);
  }
  assert.equal(held.length, 100_000);
});

test("no thread of the server loads the HTTP client that comes with Node.js", async () => {
  const program = `
    await Promise.all(["app/compose", "nameserver/nameserver", "edge/edge", "gateway/gateway"].map((path) => import("#" + path + ".ts")));
    console.log(process.moduleLoadList.filter((name) => name.includes("undici")).join());
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  assert.equal(stdout, "\n");
});
