import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { getHeapStatistics } from "node:v8";
import { giveBackPages } from "./pages.ts";

const loadsKoffi = await import("koffi").then(
  () => process.platform === "linux",
  () => false,
);

test(
  "the program's pages that only the start has needed are not the process's any more, and it goes on",
  { skip: !loadsKoffi },
  async () => {
    const fileKilobytes = (): number => Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1]);
    const before = fileKilobytes();
    await giveBackPages();
    const after = fileKilobytes();
    assert.ok(after < before * 0.9, `${before} kB, then ${after} kB`);
    // Code and tables that have gone are read again.
    assert.equal(new Intl.NumberFormat("de").format(1234.5), "1.234,5");
    assert.ok(getHeapStatistics().used_heap_size > 0);
  },
);
