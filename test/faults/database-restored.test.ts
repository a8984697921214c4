import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { findTool } from "../../tools/system-tools.ts";
import { startPostgres } from "../support/postgres.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const PATIENCE_MS = 60_000;

async function eventually(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; !(await holds()); await delay(50))
    assert.ok(performance.now() < until, `${what}, in the end`);
}

/** The nameserver's answer for a name; null without one. */
async function addressAt(node: Selvedge, name: string): Promise<string | null> {
  const resolver = new Resolver({ tries: 2, timeout: 20_000 });
  resolver.setServers([node.ready.dns]);
  try {
    return (await resolver.resolve4(name))[0] ?? null;
  } catch (error) {
    if (["ENOTFOUND", "ENODATA"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

async function serialAt(node: Selvedge, zone: string): Promise<number> {
  const resolver = new Resolver({ tries: 2, timeout: 20_000 });
  resolver.setServers([node.ready.dns]);
  return (await resolver.resolveSoa(zone)).serial;
}

const RESTORES_MAX = 20;

test(
  "two running nodes over a PostgreSQL restored from a dump serve only the dump's data, with higher serials",
  {
    skip: toolOrSkip("postgres"),
    timeout: 300_000,
  },
  async (t) => {
    const postgres = startPostgres();
    t.after(() => postgres.stop());
    const bin = dirname(realpathSync(findTool("postgres") ?? ""));
    const url = await postgres.createDatabase();
    const scratch = mkdtempSync(join(tmpdir(), "selvedge-restored-"));
    t.after(() => rmSync(scratch, { recursive: true, force: true }));
    const [dataA, dataB, dump] = ["a", "b", "dump.sql"].map((name) => join(scratch, name)) as [string, string, string];
    const start = (dataDir: string) => startSelvedge({ dataDir, args: ["--database-url", url] });
    const first = await start(dataA);
    t.after(() => first.kill());
    mkdirSync(dataB, { mode: 0o700 });
    cpSync(join(dataA, "seal.key"), join(dataB, "seal.key"));
    let second = await start(dataB);
    t.after(() => second.kill());
    const call = (method: string, path: string, body?: object) => api(first, first.ready.token ?? "", method, path, body);
    const zone: string = (await call("POST", "/zones", { name: "kept.example", account: { id: first.ready.account_id } })).body.result.id;
    const put = async (name: string, address: string): Promise<string> => {
      const { status, body } = await call("POST", `/zones/${zone}/dns_records`, { type: "A", name, content: address, ttl: 60 });
      assert.equal(status, 200, JSON.stringify(body));
      return body.result.id;
    };
    const run = (program: string, ...args: readonly string[]): void => {
      // A restore in one transaction takes every table, one after the other, while nodes read several: PostgreSQL may end it for that.
      for (let tries = 1; ; tries++) {
        const done = spawnSync(join(bin, program), [...args, `--dbname=${url}`], { encoding: "utf8" });
        if (done.status !== 0 && done.stderr.includes("deadlock detected") && tries < RESTORES_MAX) continue;
        return assert.equal(done.status, 0, done.stderr);
      }
    };

    await put("old", "192.0.2.1");
    run("pg_dump", "--clean", "--if-exists", `--file=${dump}`);
    const after: string[] = [];
    for (let n = 0; n < 6; n++) after.push(await put(`gone${n}`, "192.0.2.9"));
    assert.equal((await call("DELETE", `/zones/${zone}/dns_records/${after[0]}`)).status, 200);
    await eventually(async () => (await addressAt(second, "gone5.kept.example")) === "192.0.2.9", "the second node has it");
    const published = await serialAt(second, "kept.example");

    const logBefore = second.log().length;
    run("psql", "-q", "-1", "-v", "ON_ERROR_STOP=1", `--file=${dump}`);
    for (const node of [first, second]) {
      await eventually(async () => (await addressAt(node, "gone5.kept.example")) === null, "what was not in the dump is gone");
      for (let n = 0; n < 6; n++) assert.equal(await addressAt(node, `gone${n}.kept.example`), null);
      assert.equal(await addressAt(node, "old.kept.example"), "192.0.2.1");
      const serial = await serialAt(node, "kept.example");
      assert.ok(serial > published, `${serial} is later than ${published}`);
    }
    assert.match(second.log().slice(logBefore), /the database was restored/);
    // On from there, past every revision that was there before.
    for (let n = 0; n < 10; n++) await put(`new${n}`, "192.0.2.2");
    for (const node of [first, second]) {
      await eventually(async () => (await addressAt(node, "new9.kept.example")) === "192.0.2.2", "what is new");
      assert.equal(await addressAt(node, "gone5.kept.example"), null);
    }

    // More changes than seconds have passed since the first restore raised the serials beyond the clock.
    // Statement by statement, as pg_restore does it: rows of the counters are there before those of zones.
    const later = await serialAt(first, "kept.example");
    const steps = readFileSync(dump, "utf8")
      .replaceAll(/^\\(?:un)?restrict .*$/gm, "")
      .split(/^(?=COPY public\.zones )/m);
    assert.equal(steps.length, 2, "the dump has rows of zones");
    for (const [i, text] of steps.entries()) writeFileSync(`${dump}.${i}`, text);
    run("psql", "-q", "-v", "ON_ERROR_STOP=1", `--file=${dump}.0`);
    const half = await call("POST", "/zones", { name: "half.example", account: { id: first.ready.account_id } });
    assert.equal(half.status, 503, JSON.stringify(half.body));
    await delay(2_000);
    for (const node of [first, second]) assert.equal(await addressAt(node, "new9.kept.example"), "192.0.2.2", "planes serve what they had");
    run("psql", "-q", "-v", "ON_ERROR_STOP=1", `--file=${dump}.1`);
    for (const node of [first, second]) {
      await eventually(async () => (await addressAt(node, "new9.kept.example")) === null, "what was not in the dump is gone");
      assert.equal(await addressAt(node, "old.kept.example"), "192.0.2.1");
      const serial = await serialAt(node, "kept.example");
      assert.ok(serial > later, `${serial} is later than ${later}`);
    }

    // A node that was stopped meanwhile has a last good copy of before.
    await second.stop();
    run("pg_dump", "--clean", "--if-exists", `--file=${dump}`);
    await put("between", "192.0.2.3");
    run("psql", "-q", "-1", "-v", "ON_ERROR_STOP=1", `--file=${dump}`);
    for (let n = 0; n < 3; n++) await put(`later${n}`, "192.0.2.4");
    second = await start(dataB);
    assert.equal(await addressAt(second, "later2.kept.example"), "192.0.2.4");
    assert.equal(await addressAt(second, "between.kept.example"), null);
    assert.equal(await addressAt(first, "between.kept.example"), null);
  },
);
