import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { DatabaseSync } from "node:sqlite";
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

const DRAIN_MS = 10_000;
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
    // The old process ends streams that a busy machine makes longer than the drain time.
    const lost = kind === "streams of the gateway" ? failures.filter(({ tookMs }) => tookMs < DRAIN_MS) : failures;
    assert.deepEqual(lost, [], kind);
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
  await selvedge.logged(/edge\.workers/);
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

test("a state that the new process could not open is found before the running process gives anything up", async (t) => {
  const selvedge = await startSelvedge({ args: ["--config", "/dev/null"] });
  t.after(() => selvedge.kill());
  const token = selvedge.ready.token ?? "";
  const file = (name: string): string => join(selvedge.dataDir, name);
  const inDatabase = (statement: string): void => {
    const db = new DatabaseSync(file("control.db"));
    db.exec(statement);
    db.close();
  };
  const faults: readonly (readonly [RegExp, () => unknown, () => unknown])[] = [
    [/seal\.key is missing/, () => rename(file("seal.key"), file("aside")), () => rename(file("aside"), file("seal.key"))],
    [/may read it: chmod 600/, () => chmod(file("seal.key"), 0o644), () => chmod(file("seal.key"), 0o600)],
    [
      /sealing key does not belong to this database/,
      async () => {
        await rename(file("seal.key"), file("aside"));
        await writeFile(file("seal.key"), randomBytes(32), { mode: 0o600 });
      },
      () => rename(file("aside"), file("seal.key")),
    ],
    [
      /schema version 99999 .*start the newer program/,
      () => inDatabase("INSERT INTO schema_migrations (version, name, applied_on) VALUES (99999, 'later', '')"),
      () => inDatabase("DELETE FROM schema_migrations WHERE version = 99999"),
    ],
  ];
  for (const [message, breakIt, mendIt] of faults) {
    await breakIt();
    const { code, stderr } = await restart(selvedge);
    assert.equal(code, 1);
    assert.match(stderr, message);
    assert.match(stderr, /The running process goes on$/m);
    assert.equal((await api(selvedge, token, "GET", "/user/tokens/verify")).status, 200);
    await mendIt();
  }
  assert.equal((await restart(selvedge)).code, 0);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});

test("a configuration that listens beyond this machine with the first token is refused before anything is given up", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-restart-"));
  t.after(() => removeDirectory(directory));
  const config = join(directory, "selvedge.toml");
  await writeFile(config, "");
  const selvedge = await startSelvedge({ args: ["--config", config] });
  t.after(() => selvedge.kill());
  await writeFile(config, '[dns]\nhost = "0.0.0.0"\n');
  const { code, stderr } = await restart(selvedge);
  assert.equal(code, 1);
  assert.match(stderr, /listens beyond this machine.*The running process goes on/);
  assert.equal((await api(selvedge, selvedge.ready.token ?? "", "GET", "/user/tokens/verify")).status, 200);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});

test("after a restart that failed late, a further one brings the API back without being asked", async (t) => {
  const selvedge = await startSelvedge({ args: ["--api-port", String(await freePort())] });
  t.after(() => selvedge.kill());
  const root = join(selvedge.dataDir, "ca.pem");
  // A start writes it only after it has the database.
  await rm(root);
  await mkdir(join(root, "in-the-way"), { recursive: true });
  const { code, stderr } = await restart(selvedge);
  assert.equal(code, 1);
  assert.match(stderr, /the new process cannot start: EISDIR.* go on without its API, and it tries again in 2 seconds/);
  await rm(root, { recursive: true });
  await eventually(() => /"msg":"another process has taken over/.test(selvedge.log()));
  assert.equal((await api(selvedge, selvedge.ready.token ?? "", "GET", "/user/tokens/verify")).status, 200);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});
