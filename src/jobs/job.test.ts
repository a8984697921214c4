import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createMetrics } from "#kernel/process/metrics.ts";
import { startJobs } from "./job.ts";

test("a job repeats, one run at a time and also after a failure, until it is stopped", async () => {
  let runs = 0;
  let underWay = 0;
  const failures: unknown[] = [];
  const job = {
    name: "count",
    everyMs: 1,
    run: async () => {
      assert.equal(++underWay, 1);
      runs++;
      await delay(3);
      underWay--;
      if (runs === 2) throw new Error("once");
      return null;
    },
  };
  const jobs = startJobs([job], {
    log: { info: () => undefined, error: ({ err }: { err?: unknown }) => failures.push(err) },
    metrics: createMetrics(),
  });
  while (runs < 5) await delay(2);
  await jobs.stop();
  const after = runs;
  assert.equal(underWay, 0, "stop waits for the run under way");
  await delay(20);
  assert.equal(runs, after);
  assert.deepEqual(failures.map(String), ["Error: once"]);
});
