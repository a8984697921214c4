import assert from "node:assert/strict";
import { test } from "node:test";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { fc } from "../../../test/support/property.ts";
import { createCounterMemory, createCounterTable, type RateWindow } from "./counter-table.ts";

const T0 = 1_700_000_000_000;
const fixed: RateWindow = { periodMs: 10_000, technique: "fixed" };
const sliding: RateWindow = { periodMs: 10_000, technique: "sliding" };
const table = (keys = 64) => createCounterTable(createCounterMemory(keys, T0), () => T0);

test("a fixed window starts with a key's first event and is empty after its end", () => {
  const counters = table();
  for (const [ms, count] of [
    [0, 1],
    [5000, 2],
    [9900, 3],
    [10_000, 1],
    [10_100, 2],
    [40_000, 1],
  ] as const)
    assert.equal(counters.add("a", 1, fixed, T0 + ms), count, String(ms));
  assert.equal(counters.add("b", 5, fixed, T0), 5);
  assert.equal(counters.add("c", 0, fixed, T0), 0);
});

test("a sliding window counts the remaining share of the previous one", () => {
  const counters = table();
  for (let n = 0; n < 10; n++) counters.add("a", 1, sliding, T0);
  assert.equal(counters.add("a", 0, sliding, T0 + 9900), 10);
  assert.equal(counters.add("a", 0, sliding, T0 + 10_000), 10);
  assert.equal(counters.add("a", 0, sliding, T0 + 15_000), 5);
  assert.equal(counters.add("a", 1, sliding, T0 + 19_000), 2);
  assert.equal(counters.add("a", 0, sliding, T0 + 40_000), 0);
});

test("a mitigated key is blocked until its timeout, and reading a counter takes no slot", () => {
  const counters = table();
  assert.equal(counters.keptOutUntil("a", T0), 0);
  counters.keepOut("a", T0 + 60_000, T0);
  assert.ok(counters.keptOutUntil("a", T0 + 59_000) >= T0 + 60_000);
  assert.equal(counters.keptOutUntil("a", T0 + 60_200), 0);
  assert.equal(counters.keptOutUntil("b", T0), 0);
});

test("memory is bounded: least recently used keys are evicted first, and mitigated ones last", () => {
  const memory = createCounterMemory(1024, T0);
  const counters = createCounterTable(memory, () => T0);
  counters.keepOut("kept", T0 + 600_000, T0);
  for (let n = 0; n < 20_000; n++) counters.add(`key ${n}`, 1, fixed, T0 + Math.floor(n / 2));
  assert.ok(counters.keptOutUntil("kept", T0 + 10_000) > 0);
  const recent = Array.from({ length: 100 }, (_, n) => counters.add(`key ${19_900 + n}`, 0, fixed, T0 + 10_000));
  assert.ok(recent.filter((count) => count === 1).length > 90);
  assert.equal(memory.byteLength, createCounterMemory(1024, T0).byteLength);
});

test("many keys of one zone displace neither another zone's keys nor another account's", () => {
  const counters = createCounterTable(createCounterMemory(1024, T0), () => T0);
  const count = (account: string, zone: string, key: string, amount: number): number =>
    counters.of(account, zone).add(key, amount, fixed, T0);
  const kept = [
    ["a", "a1"],
    ["a", "a2"],
    ["b", "b1"],
  ] as const;
  for (const [account, zone] of kept) {
    for (let n = 0; n < 100; n++) count(account, zone, `${zone} ${n}`, 1);
    if (zone !== "b1") counters.of(account, zone).keepOut(`${zone} 7`, T0 + 60_000, T0);
  }
  for (let n = 0; n < 20_000; n++) {
    count("a", "flooded", `flood ${n}`, 1);
    counters.of("a", "flooded").keepOut(`flood ${n}`, T0 + 600_000, T0);
    // An account with many zones has no more room than one with a single zone.
    count("c", `c${n % 500}`, `flood of c ${n}`, 1);
  }
  for (const [account, zone] of kept) {
    const found = Array.from({ length: 100 }, (_, n) => count(account, zone, `${zone} ${n}`, 0)).filter((sum) => sum === 1);
    // Some keys share their slots with too many others by chance.
    assert.ok(found.length > 90, `${found.length} of ${zone}`);
  }
  assert.ok(counters.of("a", "a1").keptOutUntil("a1 7", T0) > 0);
});

test("a million keys take less than 50 MB, and below the limit almost none is lost", () => {
  assert.ok(createCounterMemory(1_000_000, T0).byteLength < 50 * 1024 * 1024);
  const keys = 50_000;
  const counters = table(keys);
  for (let round = 0; round < 2; round++) for (let n = 0; n < keys; n++) counters.add(`key ${n}`, 1, fixed, T0 + round * 1000);
  const whole = Array.from({ length: keys }, (_, n) => counters.add(`key ${n}`, 0, fixed, T0 + 2000)).filter((count) => count === 2);
  assert.ok(whole.length > keys * 0.98, `${whole.length} of ${keys}`);
});

test("keys of any length and content are distinct", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ maxLength: 2000, unit: "binary" }), { minLength: 2, maxLength: 4 }), (keys) => {
      const counters = table();
      keys.forEach((key, index) => counters.add(key, index + 1, fixed, T0));
      keys.forEach((key, index) => assert.equal(counters.add(key, 0, fixed, T0), index + 1));
    }),
    { numRuns: 200 },
  );
});

test("threads count together and lose no event", async () => {
  const memory = createCounterMemory(64, T0);
  const script = `
    import { workerData } from "node:worker_threads";
    import { createCounterTable } from ${JSON.stringify(new URL("counter-table.ts", import.meta.url).href)};
    const counters = createCounterTable(workerData.memory, () => 0);
    for (let n = 0; n < 20000; n++) counters.add("key " + (n % 4), 1, { periodMs: 600000, technique: "fixed" }, ${T0});
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
  const workers = Array.from({ length: 3 }, () => new Worker(url, { workerData: { memory } }));
  await Promise.all(workers.map((worker) => once(worker, "exit")));
  const counters = createCounterTable(memory, () => T0);
  for (let key = 0; key < 4; key++) assert.equal(counters.add(`key ${key}`, 0, { periodMs: 600_000, technique: "fixed" }, T0), 15_000);
});
