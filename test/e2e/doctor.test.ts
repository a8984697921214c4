import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test, type TestContext } from "node:test";
import { eventually } from "../support/eventually.ts";
import { api, FREE_PORTS, startSelvedge } from "../support/selvedge.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");
const RECORDS = 40;
const NOISE_BYTES = 4096;

/** As a kill leaves it, right after the last copy: what was acknowledged is in SQLite's log alone. */
let killed: string;
let token: string;

interface Outcome {
  readonly code: number;
  readonly good: boolean;
  readonly said: Readonly<Record<string, string>>;
  readonly err: string;
}

const doctor = (dataDir: string, ...flags: readonly string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SELVEDGE_")));
    const args = [PROGRAM, "doctor", "--data", dataDir, "--json", ...FREE_PORTS, ...flags];
    execFile(process.execPath, args, { env, timeout: 120_000, killSignal: "SIGKILL" }, (error, out, err) => {
      const { good, findings } = JSON.parse(out || '{"good":false,"findings":[]}') as {
        good: boolean;
        findings: readonly { what: string; finding: string; is_good: boolean }[];
      };
      const said = Object.fromEntries(findings.map(({ what, finding }) => [what, finding]));
      const allGood = findings.every((one) => one.is_good);
      resolve({ code: error === null ? 0 : Number(error.code), good: good && allGood, said, err });
    });
  });

const directory = (): string => mkdtempSync(join(tmpdir(), "selvedge-doctor-"));

before(async () => {
  killed = directory();
  const dataDir = directory();
  const selvedge = await startSelvedge({ dataDir });
  token = selvedge.ready.token ?? "";
  const call = (method: string, path: string, body?: object) => api(selvedge, token, method, path, body);
  const zone = await call("POST", "/zones", { name: "kept.example", account: { id: selvedge.ready.account_id } });
  // An open reader keeps the log from being copied into the file.
  const reader = new DatabaseSync(join(dataDir, "control.db"), { readOnly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT * FROM counters").all();
  for (let n = 0; n < RECORDS; n++) {
    const record = { type: "A", name: `n${n}`, content: "192.0.2.1", ttl: 60 };
    assert.equal((await call("POST", `/zones/${zone.body.result.id}/dns_records`, record)).status, 200);
  }
  const journal = join(dataDir, "snapshot.last-good.journal");
  await eventually(() => readFileSync(journal, "utf8").includes(`n${RECORDS - 1}.kept.example`));
  await selvedge.kill();
  cpSync(dataDir, killed, { recursive: true });
  reader.close();
  rmSync(dataDir, { recursive: true });
});
after(() => rmSync(killed, { recursive: true, force: true }));

function copyOf(t: TestContext): string {
  const dataDir = directory();
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  cpSync(killed, dataDir, { recursive: true });
  // An index of the log, which SQLite rebuilds.
  rmSync(join(dataDir, "control.db-shm"), { force: true });
  return dataDir;
}

function putNoise(file: string, at: number): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0x5a, at, at + NOISE_BYTES));
}

test("doctor finds the data valid after a kill, and checks the machine of a running server", async (t) => {
  const dataDir = copyOf(t);
  const { code, good, said } = await doctor(dataDir);
  assert.deepEqual([code, good], [0, true], JSON.stringify(said));
  assert.deepEqual([said["database file"], said["events database"]], ["good", "good"]);
  const rev = /^good, at revision (\d+)$/.exec(said["last good copy"] ?? "")?.[1];
  assert.match(said["database"] ?? "", new RegExp(`^good, at revision ${rev} of history [0-9a-f]{32}$`));
  const selvedge = await startSelvedge({ dataDir });
  t.after(() => selvedge.kill());
  const busy = await doctor(dataDir);
  assert.deepEqual([busy.code, busy.said["server"]], [0, "it runs, so its files and ports are not checked"], busy.err);
  assert.match(busy.said["disk"] ?? "", /^good, \d+ MB free$/);
  assert.equal(busy.said["database file"], undefined);
  const late = await doctor(dataDir, "--backup-every-hours=24", `--backup-directory=${join(dataDir, "seal.key", "backups")}`);
  assert.equal(late.code, 1);
  assert.match(late.said["backup directory"] ?? "", /so that no scheduled backup is made/);
  const refused = await doctor(dataDir, "--rebuild");
  assert.equal(refused.code, 1);
  assert.match(refused.err, new RegExp(`process ${selvedge.pid}`));
});

test("doctor finds damage in the write-ahead log that loses acknowledged records, and names the options", async (t) => {
  const dataDir = copyOf(t);
  const log = join(dataDir, "control.db-wal");
  const { size } = statSync(log);
  assert.ok(size > 16 * NOISE_BYTES, "the log holds records");
  putNoise(log, Math.floor(size / 2));
  const noisy = readFileSync(log);
  const found = await doctor(dataDir);
  assert.deepEqual([found.code, found.good], [1, false]);
  assert.match(
    found.said["database"] ?? "",
    /is at revision \d+, but the planes have already served revision \d+: acknowledged changes are missing\. Restore it from a newer backup; or, .* selvedge doctor --new-history --data /,
  );
  assert.ok(readFileSync(log).equals(noisy), "looking changes nothing");

  const selvedge = await startSelvedge({ dataDir });
  const resolver = new Resolver({ tries: 2, timeout: 20_000 });
  resolver.setServers([selvedge.ready.dns]);
  for (const n of [0, RECORDS - 1]) assert.deepEqual(await resolver.resolve4(`n${n}.kept.example`), ["192.0.2.1"]);
  const { status, body } = await api(selvedge, token, "POST", "/zones", { name: "no.example" });
  assert.deepEqual([status, body.errors[0].code], [503, 10504]);
  assert.match(body.errors[0].message, /acknowledged changes are missing/);
  await selvedge.kill();
  assert.ok(readFileSync(log).equals(noisy), "nor does a start");

  const renewed = await doctor(dataDir, "--new-history");
  assert.deepEqual([renewed.code, renewed.good], [0, true], JSON.stringify(renewed.said));
  assert.equal((await doctor(dataDir)).good, true);
});

/** The log may hold every page, and then nothing is lost: it is taken into the file first. */
function putNoiseIntoPages(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  putNoise(file, 2 * NOISE_BYTES);
}

function putOnlyNoise(file: string): void {
  writeFileSync(file, "noise".repeat(NOISE_BYTES));
  truncateSync(`${file}-wal`, 0);
}

function cutEnd(file: string): void {
  truncateSync(file, statSync(file).size - 20);
  truncateSync(`${file}-wal`, 0);
}

const DAMAGED: readonly (readonly [what: string, damage: (dataDir: string) => void, said: string, finding: RegExp])[] = [
  [
    "pages of the database",
    (at) => putNoiseIntoPages(join(at, "control.db")),
    "database file",
    /; restore it from a backup; without one, rebuild it .* selvedge doctor --rebuild$/,
  ],
  ["all of the database", (at) => putOnlyNoise(join(at, "control.db")), "database file", /not a database; restore it/],
  ["that the end of the database is missing", (at) => cutEnd(join(at, "control.db")), "database file", /ends within a page.*; restore it/],
  ["the events database", (at) => putOnlyNoise(join(at, "events.db")), "events database", /not a database; restore it/],
  ["the last good copy", (at) => truncateSync(join(at, "snapshot.last-good"), 20), "last good copy", /last good copy is invalid/],
];
for (const [what, damage, part, finding] of DAMAGED) {
  test(`doctor finds ${what}, and --new-history does not change the damaged files`, async (t) => {
    const dataDir = copyOf(t);
    damage(dataDir);
    const files = ["control.db", "control.db-wal"].map((name) => join(dataDir, name)).filter((file) => existsSync(file));
    const damaged = files.map((file) => readFileSync(file));
    for (const flags of [[], ["--new-history"]]) {
      const { code, good, said } = await doctor(dataDir, ...flags);
      assert.deepEqual([code, good], [1, false]);
      assert.match(said[part] ?? "", finding);
    }
    assert.deepEqual(
      files.map((file) => readFileSync(file)),
      damaged,
    );
  });
}

test("doctor refuses a directory that does not exist and does not create it", async () => {
  const missing = join(tmpdir(), `selvedge-doctor-${process.pid}-missing`);
  const { code, err } = await doctor(missing);
  assert.equal(code, 1);
  assert.match(err, /the data directory .* does not exist/);
  assert.equal(existsSync(missing), false);
});
