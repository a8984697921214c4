import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eventually } from "../../../test/support/eventually.ts";
import { growHeapWhenCollectedOften } from "./heap-growth.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("globalThis.gc") as (options: object) => void;
setFlagsFromString("--no-expose-gc");

test("a thread with frequent full collections lets its heap grow faster, once", async () => {
  let [grown, grownLate, seen] = [0, 0, 0];
  growHeapWhenCollectedOften({ withinMs: Infinity, grow: () => grown++ });
  growHeapWhenCollectedOften({ withinMs: 0, grow: () => grownLate++ });
  const observer = new PerformanceObserver((list) => void (seen += list.getEntries().length));
  observer.observe({ entryTypes: ["gc"] });
  const collected = async (type: string, times: number): Promise<void> => {
    const before = seen;
    for (let i = 0; i < times; i++) collect({ type, execution: "sync" });
    await eventually(() => seen >= before + times);
  };
  await collected("minor", 20);
  await collected("major", 5);
  assert.equal(grown, 0);
  await collected("major", 5);
  assert.equal(grown, 1);
  await collected("major", 20);
  assert.equal(grown, 1);
  assert.equal(grownLate, 0);
  observer.disconnect();
});

test("V8 still has the flag --heap-growing-percent", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--v8-options"]);
  assert.match(stdout, /^\s*--heap-growing-percent \(/m);
});
