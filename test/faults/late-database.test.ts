import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Resolver } from "node:dns/promises";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "../support/postgres.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { fillDisk, smallDisk } from "../support/small-disk.ts";
import { toolOrSkip } from "../support/tools.ts";

const PATIENCE_MS = 90_000;
const RECORDS = 12;

/** A state directory as a kill leaves it: the log of the database is not folded in. */
let whole: string;
let token: string;

async function makeState(dataDir: string, args: readonly string[] = []): Promise<string> {
  const selvedge = await startSelvedge({ dataDir, args });
  const secret = selvedge.ready.token ?? "";
  const call = (method: string, path: string, body?: object) => api(selvedge, secret, method, path, body);
  const zone = await call("POST", "/zones", { name: "kept.example", account: { id: selvedge.ready.account_id } });
  for (let n = 0; n < RECORDS; n++) {
    const put = await call("POST", `/zones/${zone.body.result.id}/dns_records`, {
      type: "A",
      name: `n${n}`,
      content: "192.0.2.1",
      ttl: 60,
    });
    assert.equal(put.status, 200);
  }
  // The last good copy follows within a moment.
  await delay(1_000);
  await selvedge.kill();
  return secret;
}

before(async () => {
  whole = mkdtempSync(join(tmpdir(), "selvedge-late-"));
  token = await makeState(whole);
});
after(() => rmSync(whole, { recursive: true, force: true }));

function copyOf(t: { after(step: () => void): void }): string {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-late-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  cpSync(whole, dataDir, { recursive: true });
  return dataDir;
}

function resolverOf(selvedge: Selvedge): Resolver {
  const resolver = new Resolver({ tries: 2, timeout: 20_000 });
  resolver.setServers([selvedge.ready.dns]);
  return resolver;
}

async function readiness(selvedge: Selvedge): Promise<{ status: number; reasons: string }> {
  const response = await fetch(new URL("/readyz", selvedge.ready.api));
  return { status: response.status, reasons: ((await response.json()) as { reasons: string[] }).reasons.join("; ") };
}

/** The planes serve all that was acknowledged; the API, probes and log say why it does not work. */
async function assertServesAlone(selvedge: Selvedge, secret: string, code: number, reason: RegExp): Promise<void> {
  for (const n of [0, RECORDS - 1]) assert.deepEqual(await resolverOf(selvedge).resolve4(`n${n}.kept.example`), ["192.0.2.1"]);
  const answers = [await api(selvedge, secret, "GET", "/zones"), await api(selvedge, secret, "POST", "/zones", { name: "no.example" })];
  for (const { status, body } of answers) {
    assert.equal(status, 503);
    assert.equal(body.errors[0].code, code);
    assert.match(body.errors[0].message, reason);
  }
  const { status, reasons } = await readiness(selvedge);
  assert.equal(status, 503);
  assert.match(reasons, reason);
  await selvedge.logged(/the database is unavailable; the planes serve the last good copy/);
}

async function assertJoins(selvedge: Selvedge, secret: string): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; (await readiness(selvedge)).status !== 200; await delay(200))
    assert.ok(performance.now() < until, `${(await readiness(selvedge)).reasons}\n${selvedge.log()}`);
  const { body } = await api(selvedge, secret, "GET", "/zones?name=kept.example");
  const put = await api(selvedge, secret, "POST", `/zones/${body.result[0].id}/dns_records`, {
    ...{ type: "A", name: "after", content: "192.0.2.2", ttl: 60 },
  });
  assert.equal(put.status, 200, JSON.stringify(put.body));
  assert.deepEqual(await resolverOf(selvedge).resolve4("after.kept.example"), ["192.0.2.2"]);
}

const DAMAGED: readonly (readonly [what: string, damage: (dataDir: string) => void, reason: RegExp])[] = [
  ["a database of noise", (at) => writeFileSync(join(at, "control.db"), "noise".repeat(4096)), /it is damaged; the operator restores it/],
  [
    "a database that is behind what was served",
    (at) => {
      const db = new DatabaseSync(join(at, "control.db"));
      db.exec("UPDATE counters SET value = value - 5 WHERE name = 'rev'");
      db.close();
      // As noise in the database's log leaves it.
      writeFileSync(join(at, "control.db-wal"), "");
    },
    /acknowledged changes are missing/,
  ],
];
for (const [what, damage, reason] of DAMAGED) {
  test(`with ${what} the planes serve, nothing is written, and all of it works once the database is restored`, async (t) => {
    const dataDir = copyOf(t);
    damage(dataDir);
    const files = ["control.db", "control.db-wal"].map((name) => join(dataDir, name));
    const damaged = files.map((file) => readFileSync(file));
    const selvedge = await startSelvedge({ dataDir });
    t.after(() => selvedge.kill());
    await assertServesAlone(selvedge, token, 10504, reason);
    assert.deepEqual(
      files.map((file) => readFileSync(file)),
      damaged,
    );
    assert.equal(selvedge.ready.account_id, "");
    for (const name of readdirSync(dataDir)) if (name.startsWith("control.db")) rmSync(join(dataDir, name));
    for (const name of readdirSync(whole)) if (name.startsWith("control.db")) cpSync(join(whole, name), join(dataDir, name));
    await assertJoins(selvedge, token);
    assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
  });
}

test("with PostgreSQL down at the start the planes serve, and the API joins once it is up", { skip: toolOrSkip("postgres") }, async (t) => {
  const postgres = startPostgres();
  t.after(() => postgres.stop());
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-late-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const args = ["--database-url", await postgres.createDatabase()];
  const secret = await makeState(dataDir, args);
  await postgres.crash();
  const selvedge = await startSelvedge({ dataDir, args });
  t.after(() => selvedge.kill());
  await assertServesAlone(selvedge, secret, 10503, /it does not answer/);
  postgres.revive();
  await assertJoins(selvedge, secret);
  // Another database, with nothing in it.
  await selvedge.stop();
  const copy = readFileSync(join(dataDir, "snapshot.last-good"));
  await assert.rejects(startSelvedge({ dataDir, args: ["--database-url", await postgres.createDatabase()] }), REFUSAL);
  assert.deepEqual(readFileSync(join(dataDir, "snapshot.last-good")), copy);
});

test("with a full disk at the start the planes serve, a write succeeds or gets the error code, and free space ends it", async (t) => {
  const disk = smallDisk(t, 32);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const dataDir = join(disk, "state");
  cpSync(whole, dataDir, { recursive: true });
  for (const name of ["control.db-shm", "run.json"]) rmSync(join(dataDir, name), { force: true });
  fillDisk(join(disk, "filler"));
  const selvedge = await startSelvedge({ dataDir });
  t.after(() => selvedge.kill());
  assert.deepEqual(await resolverOf(selvedge).resolve4("n0.kept.example"), ["192.0.2.1"]);
  const { status, body } = await api(selvedge, token, "POST", "/zones", { name: "no.example" });
  // The reserve of the events database (docs/adr/0055) may have made room for it.
  assert.ok([200, 503, 507].includes(status), JSON.stringify(body));
  rmSync(join(disk, "filler"));
  await assertJoins(selvedge, token);
});

test("with a full disk and no reserve at the start the planes serve, writes get the error code, and free space ends it", async (t) => {
  const disk = smallDisk(t, 32);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const dataDir = join(disk, "state");
  cpSync(whole, dataDir, { recursive: true });
  for (const name of ["control.db-shm", "events.db-shm", "events.db.reserve", "run.json"]) rmSync(join(dataDir, name), { force: true });
  const certificate = readFileSync(join(dataDir, "ca.pem"), "utf8");
  fillDisk(join(disk, "filler"));
  const selvedge = await startSelvedge({ dataDir });
  t.after(() => selvedge.kill());
  await assertServesAlone(selvedge, token, 10503, /its disk is full/);
  await selvedge.logged(/the disk is full; events are dropped until space is available/);
  rmSync(join(disk, "filler"));
  await assertJoins(selvedge, token);
  assert.equal(readFileSync(join(dataDir, "ca.pem"), "utf8"), certificate);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});

const REFUSAL = ({ message }: Error): boolean => {
  assert.match(message, /ended with 1 before it was ready/);
  assert.match(message, /^selvedge: cannot start: the database at .* is missing.*Restore the database.*--new-installation/m);
  return true;
};

for (const left of [["snapshot.last-good", "snapshot.last-good.journal"], ["seal.key"], ["events.db"]] as const) {
  test(`a database that is missing beside ${left.join(" and ")} is replaced only with the flag for it`, async (t) => {
    const dataDir = copyOf(t);
    for (const name of readdirSync(dataDir))
      if (!(left as readonly string[]).includes(name)) rmSync(join(dataDir, name), { recursive: true });
    const kept = left.map((name) => readFileSync(join(dataDir, name)));
    await assert.rejects(startSelvedge({ dataDir }), REFUSAL);
    assert.equal(existsSync(join(dataDir, "control.db")), false);
    assert.deepEqual(
      left.map((name) => readFileSync(join(dataDir, name))),
      kept,
    );
    if (left[0] !== "snapshot.last-good") return;
    const selvedge = await startSelvedge({ dataDir, args: ["--new-installation"] });
    t.after(() => selvedge.kill());
    assert.notEqual(selvedge.ready.token, undefined);
    await assert.rejects(resolverOf(selvedge).resolve4("n0.kept.example"));
  });
}

test("a database of another installation is refused, and selvedge status says why the server cannot write", async (t) => {
  const dataDir = copyOf(t);
  const other = mkdtempSync(join(tmpdir(), "selvedge-late-"));
  t.after(() => rmSync(other, { recursive: true, force: true }));
  await makeState(other);
  for (const name of ["control.db", "control.db-wal", "control.db-shm"]) cpSync(join(other, name), join(dataDir, name));
  await assert.rejects(startSelvedge({ dataDir }), /belongs to another installation than .*--new-installation/);
  for (const name of ["control.db-wal", "control.db-shm"]) rmSync(join(dataDir, name));
  writeFileSync(join(dataDir, "control.db"), "noise".repeat(4096));
  const selvedge = await startSelvedge({ dataDir });
  t.after(() => selvedge.kill());
  const status = spawn(process.execPath, ["bin/selvedge.js", "status", "--data", dataDir], { stdio: ["ignore", "pipe", "inherit"] });
  const [said, [code]] = await Promise.all([text(status.stdout), once(status, "exit") as Promise<[number]>]);
  assert.equal(code, 1);
  assert.match(said, /not ready; nothing can be written to the database: it is damaged/);
});
