import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { getHeapStatistics } from "node:v8";
import { eventually } from "../../../test/support/eventually.ts";
import { giveBackHeap } from "#kernel/process/heap.ts";
import { loadMemoryTrim } from "./memory-trim.ts";

const pages = await loadMemoryTrim();
const skip = pages === null;

const kilobytes = (name: "RssFile" | "RssAnon"): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readFileSync("/proc/self/status", "latin1"))?.[1]);

test("pages used only at the start are released, and the process continues", { skip }, () => {
  const before = kilobytes("RssFile");
  pages?.giveBackProgram();
  const after = kilobytes("RssFile");
  assert.ok(after < before * 0.9, `${before} kB, then ${after} kB`);
  // Code and tables that have gone are read again.
  assert.equal(new Intl.NumberFormat("de").format(1234.5), "1.234,5");
  assert.ok(getHeapStatistics().used_heap_size > 0);
});

test("freed memory is returned to the system", { skip }, async () => {
  // Beside each other on the C library's heap, which keeps what lies below the last one.
  let buffers: Buffer[] = Array.from({ length: 4_000 }, () => Buffer.allocUnsafeSlow(16_384).fill(1));
  const last = buffers.pop();
  const before = kilobytes("RssAnon");
  buffers = [];
  await eventually(async () => {
    giveBackHeap();
    await pages?.giveBackFreed();
    return kilobytes("RssAnon") < before - 40_000;
  });
  assert.equal(last?.[16_383], 1);
});
