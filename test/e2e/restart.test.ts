import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rename, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
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

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};

const restart = (selvedge: Selvedge): Promise<{ readonly code: unknown; readonly stderr: string }> =>
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

test("a server that is stopped while it drains after a restart ends with the process that has taken over", async (t) => {
  const site = await loadedSite();
  t.after(site.close);
  const { selvedge } = site;
  t.after(() => selvedge.kill());
  // Its requests keep the first process draining.
  const load = site.load();
  const { pid } = await site.restart();
  assert.ok(!selvedge.log().includes('"msg":"stopped"'), "the first process still drains");
  const ended = selvedge.stop();
  await load.stop();
  assert.deepEqual(await ended, { code: 0, signal: null });
  assert.ok(!isAlive(pid));
});

test("a new process that cannot start changes nothing, and the command says why", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-restart-"));
  t.after(() => removeDirectory(directory));
  const file = join(directory, "selvedge.toml");
  await writeFile(file, "");
  const selvedge = await startSelvedge({ args: ["--config", file] });
  t.after(() => selvedge.kill());
  await writeFile(file, "[edge]\nworkers = 0\n");
  const { code, stderr } = await restart(selvedge);
  assert.equal(code, 1);
  assert.match(stderr, /the new process cannot start: .*edge\.workers.*\. The running process goes on/);
  assert.match(selvedge.log(), /edge\.workers/);
  assert.equal((await api(selvedge, selvedge.ready.token ?? "", "GET", "/user/tokens/verify")).status, 200);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});

test("a port that another program has is found before the running process gives anything up", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-restart-"));
  t.after(() => removeDirectory(directory));
  const file = join(directory, "selvedge.toml");
  await writeFile(file, "");
  const taken = createServer().listen(0, "127.0.0.1");
  t.after(() => taken.close());
  await once(taken, "listening");
  const selvedge = await startSelvedge({ args: ["--config", file] });
  t.after(() => selvedge.kill());
  const { port } = taken.address() as AddressInfo;
  await writeFile(file, `[ops]\nport = ${port}\n`);
  const { code, stderr } = await restart(selvedge);
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`the operations listener cannot listen on 127\\.0\\.0\\.1:${port} \\(EADDRINUSE\\).*The running process goes on`),
  );
  assert.equal((await api(selvedge, selvedge.ready.token ?? "", "GET", "/user/tokens/verify")).status, 200);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});

test("after a restart that failed late, the next one brings the API back", async (t) => {
  const selvedge = await startSelvedge({ args: ["--api-port", String(await freePort())] });
  t.after(() => selvedge.kill());
  const [key, aside] = ["seal.key", "seal.key.aside"].map((name) => join(selvedge.dataDir, name)) as [string, string];
  await rename(key, aside);
  const { code, stderr } = await restart(selvedge);
  assert.equal(code, 1);
  assert.match(stderr, /the new process cannot start: .*seal\.key is missing.*run selvedge restart again/);
  await rename(aside, key);
  assert.equal((await restart(selvedge)).code, 0);
  assert.equal((await api(selvedge, selvedge.ready.token ?? "", "GET", "/user/tokens/verify")).status, 200);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});
