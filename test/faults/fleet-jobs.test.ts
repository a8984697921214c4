import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { eventually } from "../support/eventually.ts";
import { sharedPostgres, startPostgres } from "../support/postgres.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const JOB = "refresh-secondaries";

async function startControl(t: TestContext, url: string, sealKey?: string): Promise<Selvedge> {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-jobs-"));
  if (sealKey !== undefined) cpSync(sealKey, join(dataDir, "seal.key"));
  const server = await startSelvedge({ dataDir, env: { SELVEDGE_DATABASE_URL: url, SELVEDGE_ROLES: "control" } });
  t.after(async () => {
    await server.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return server;
}

/** How often the process has run a job of each second. */
async function runsOf({ ready }: Selvedge): Promise<number> {
  const text = await (await fetch(`${ready.ops}/metrics`)).text();
  return Number(new RegExp(`^selvedge_job_runs_total\\{job="${JOB}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

test(
  "a job runs in one of two processes with control, and in the other once that one is frozen, thawed or killed",
  { skip: toolOrSkip("postgres"), timeout: 600_000 },
  async (t) => {
    const shared = sharedPostgres();
    const own = shared === null ? startPostgres() : null;
    t.after(() => own?.stop());
    const url = await (shared ?? own!).createDatabase();
    const database = new pg.Client({ connectionString: url });
    await database.connect();
    t.after(() => database.end());
    const lease = async (): Promise<{ readonly holder: string; readonly epoch: number }> =>
      (await database.query(`SELECT holder, epoch FROM leases WHERE duty = 'job:${JOB}'`)).rows[0];

    const first = await startControl(t, url);
    await eventually(async () => (await runsOf(first)) > 0);
    const ofFirst = await lease();
    const second = await startControl(t, url, join(first.dataDir, "seal.key"));
    const before = await runsOf(first);
    await eventually(async () => (await runsOf(first)) >= before + 3);
    assert.equal(await runsOf(second), 0);

    process.kill(first.pid, "SIGSTOP");
    const frozen = performance.now();
    await eventually(async () => (await runsOf(second)) > 0);
    t.diagnostic(`taken from a frozen process after ${Math.round(performance.now() - frozen)} ms`);
    const ofSecond = await lease();
    assert.notEqual(ofSecond.holder, ofFirst.holder);
    assert.ok(ofSecond.epoch > ofFirst.epoch);

    process.kill(first.pid, "SIGCONT");
    const thawed = await runsOf(first);
    const since = await runsOf(second);
    await eventually(async () => (await runsOf(second)) >= since + 5);
    assert.equal(await runsOf(first), thawed);
    assert.deepEqual(await lease(), ofSecond);

    await second.kill();
    const killed = performance.now();
    await eventually(async () => (await runsOf(first)) > thawed);
    t.diagnostic(`taken from a killed process after ${Math.round(performance.now() - killed)} ms`);
    assert.equal((await lease()).holder, ofFirst.holder);

    // One that ends in order leaves its jobs at once.
    const third = await startControl(t, url, join(first.dataDir, "seal.key"));
    await delay(2_000);
    assert.equal(await runsOf(third), 0);
    await first.stop();
    await eventually(async () => (await runsOf(third)) > 0);
  },
);
