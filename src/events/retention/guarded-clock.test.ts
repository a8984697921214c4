import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openEventDatabase } from "#events/database/database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { retentionStep } from "./retention.ts";
import { createSteadyTime } from "./guarded-clock.ts";
import { packed, testRequestRow } from "#events/testing/rows.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const START = 20_000 * DAY;

function travel(writtenMs?: number, startMs = START) {
  let [clockMs, monotonicMs] = [startMs, 0];
  const jumps: number[] = [];
  const time = createSteadyTime({
    nowMs: () => clockMs,
    monotonicMs: () => monotonicMs,
    writtenMs,
    jumped: (aheadMs) => jumps.push(aheadMs),
  });
  return {
    jumps,
    time,
    /** Sets the clock, after time has gone by. */
    go: (passedMs: number, setMs = 0): number => {
      monotonicMs += passedMs;
      clockMs += passedMs + setMs;
      return time();
    },
    clock: () => clockMs,
  };
}

test("the guarded clock follows a jump ahead after a day, and a jump back at once", () => {
  const { go, clock, jumps } = travel();
  assert.equal(go(HOUR), clock());
  assert.equal(go(0, HOUR / 2), clock(), "a little is no jump");
  assert.equal(go(HOUR, YEAR), clock() - YEAR);
  assert.equal(go(5 * HOUR), clock() - YEAR);
  assert.equal(go(HOUR, -YEAR), clock());
  assert.equal(go(0, -YEAR), clock());
  assert.equal(go(HOUR, YEAR), clock() - YEAR, "a jump as every other");
  assert.equal(go(DAY - 1), clock() - YEAR);
  assert.equal(go(1), clock());
  assert.equal(go(HOUR), clock());
  assert.deepEqual(jumps, [YEAR, YEAR]);
});

test("a clock that is ahead of the last write at the start is followed after a day", () => {
  const ahead = travel(START - YEAR);
  assert.equal(ahead.go(HOUR), START - YEAR + HOUR);
  assert.equal(ahead.go(DAY), ahead.clock());
  const behind = travel(START + YEAR);
  assert.equal(behind.go(HOUR), behind.clock());
});

test("rows survive a clock that jumps a year ahead and back, and are deleted by their age afterwards", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-time-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "events.db");
  const { go, clock, time } = travel();
  const database = openEventDatabase(path, clock);
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const write = (name: string): void => {
    // As rows by themselves and in blocks.
    for (const rows of [1, 100])
      database.insert([
        packed(
          "requests",
          Array.from({ length: rows }, () => testRequestRow({ at_ms: clock(), path: name })),
        ),
      ]);
  };
  const paths = (): readonly string[] => {
    while (retentionStep(database, { ageMs: 30 * DAY, bytes: 1e9, hoursAgeMs: 40 * DAY }, time()));
    return [...new Set(queries.list("requests", { where: [], limit: 1e5 }).map((row) => row.path))].toSorted();
  };
  write("first");
  go(HOUR, YEAR);
  write("ahead");
  assert.deepEqual(paths(), ["ahead", "first"]);
  go(HOUR, -YEAR);
  write("second");
  assert.deepEqual(paths(), ["ahead", "first", "second"]);
  go(HOUR, -YEAR);
  write("behind");
  assert.deepEqual(paths(), ["ahead", "behind", "first", "second"]);
  go(HOUR, YEAR);
  assert.deepEqual(paths(), ["ahead", "behind", "first", "second"]);
  for (let day = 0; day < 29; day++) go(DAY);
  write("third");
  assert.ok(paths().includes("third") && paths().includes("second"));
  for (let day = 0; day < 31; day++) go(DAY);
  write("last");
  assert.deepEqual(paths(), ["last"]);
});
