import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { loadedSite } from "../support/loaded-site.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

/** A process that has ended stays listed until its parent has heard of it, and not every init of a container does. */
const isAlive = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
};

const program = join(dirname(dirname(import.meta.dirname)), "bin/selvedge.js");

const restartFails = (selvedge: Selvedge): Promise<{ readonly code: unknown; readonly stderr: string }> =>
  new Promise((resolve) => {
    const args = [program, "restart", "--data", selvedge.dataDir];
    execFile(process.execPath, args, (error, _stdout, stderr) => resolve({ code: error?.code ?? 0, stderr }));
  });

test("a restart under load loses no request over HTTP/1.1, HTTP/2, DNS, the API and gateway streams", async (t) => {
  const site = await loadedSite();
  t.after(site.close);
  const { selvedge, token, zoneId } = site;
  t.after(() => selvedge.kill());
  const load = site.load();
  const first = await site.restart();
  assert.equal(first.previous_pid, selvedge.pid);
  await eventually(() => selvedge.log().includes('"msg":"stopped"'));
  // The next process inherits what the second one has inherited.
  const second = await site.restart();
  assert.equal(second.previous_pid, first.pid);
  await eventually(() => !isAlive(first.pid));
  for (const { kind, done, failures, slowestMs } of await load.stop()) {
    t.diagnostic(`${kind}: ${done} requests, ${failures.length} failed, the slowest took ${slowestMs} ms`);
    assert.deepEqual(failures, [], kind);
    assert.ok(done > 3, `${kind}: ${done} requests`);
  }
  const zone = await api(selvedge, token, "GET", `/zones/${zoneId}`);
  assert.equal(zone.body.result.name, "shop.example");
  assert.ok(isAlive(selvedge.pid), "the first process stands for the server");
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
  assert.ok(!isAlive(second.pid));
});

test("a new process that cannot start changes nothing, and the command says why", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-restart-"));
  t.after(() => removeDirectory(directory));
  const file = join(directory, "selvedge.toml");
  await writeFile(file, "");
  const selvedge = await startSelvedge({ args: ["--config", file] });
  t.after(() => selvedge.kill());
  await writeFile(file, "[edge]\nworkers = 0\n");
  const { code, stderr } = await restartFails(selvedge);
  assert.equal(code, 1);
  assert.match(stderr, /the new process ended \(exit code 2\) before it served; its log says why\. this one goes on/);
  assert.match(selvedge.log(), /edge\.workers/);
  assert.equal((await api(selvedge, selvedge.ready.token ?? "", "GET", "/user/tokens/verify")).status, 200);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});
