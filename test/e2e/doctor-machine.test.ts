import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test, type TestContext } from "node:test";
import { FREE_PORTS, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");
const DAY_MS = 86_400_000;

/** The directory of a server that was stopped. */
let used: string;

interface Visit {
  readonly dataDir?: string;
  readonly flags?: readonly string[];
  /** Commands of the shell before the program. */
  readonly shell?: string;
  readonly uid?: number;
}

interface Report {
  readonly code: number;
  /** Faults with their advice. */
  readonly wrong: readonly string[];
  readonly err: string;
}

function doctor(t: TestContext, { dataDir = copy(t), flags = [], shell = "", uid }: Visit): Promise<Report> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SELVEDGE_")));
  const args = [PROGRAM, "doctor", "--data", dataDir, "--json", ...FREE_PORTS, ...flags];
  return new Promise((resolve) => {
    const options = { env, timeout: 120_000, ...(uid === undefined ? {} : { uid, gid: uid }) };
    execFile("sh", ["-c", `${shell} exec "$@"`, "sh", process.execPath, ...args], options, (error, out, err) => {
      const { findings } = JSON.parse(out || '{"findings":[]}') as {
        findings: readonly { what: string; finding: string; is_good: boolean }[];
      };
      const wrong = findings.filter(({ is_good }) => !is_good).map(({ what, finding }) => `${what}: ${finding}`);
      resolve({ code: error === null ? 0 : Number(error.code), wrong, err });
    });
  });
}

function copy(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-machine-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  cpSync(used, dataDir, { recursive: true });
  return dataDir;
}

/** One fault is found, and nothing else. */
async function finds(t: TestContext, visit: Visit, advice: RegExp): Promise<void> {
  const { code, wrong, err } = await doctor(t, visit);
  assert.deepEqual([code, wrong.length], [1, 1], `${wrong.join("; ")} ${err}`);
  assert.match(wrong[0] ?? "", advice);
}

before(async () => {
  used = mkdtempSync(join(tmpdir(), "selvedge-used-"));
  await (await startSelvedge({ dataDir: used })).stop();
});
after(() => rmSync(used, { recursive: true, force: true }));

test("a set-up without a fault has none", async (t) => {
  const { code, wrong, err } = await doctor(t, {});
  assert.deepEqual({ code, wrong, err }, { code: 0, wrong: [], err: "" });
});

test("a port is taken", async (t) => {
  const taken = createServer().listen(0, "127.0.0.1");
  t.after(() => taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  await finds(
    t,
    { flags: [`--https-port=${port}`] },
    new RegExp(
      `^ports: the edge \\(HTTPS\\) cannot listen on 127\\.0\\.0\\.1:${port} \\(EADDRINUSE\\): another program uses it\\. Stop that program, or choose another port with --https-port`,
    ),
  );
});

test("an address is not of this machine", async (t) => {
  await finds(
    t,
    { flags: ["--dns-host=127.0.0.1", "--dns-host=192.0.2.77", "--dns-port=5399", "--dns-tls-port=auto"] },
    /^ports: the nameserver cannot listen on 192\.0\.2\.77:5399 \(EADDRNOTAVAIL\): this machine has no such address\. Choose another with --dns-host/,
  );
});

test("the directory cannot be written", async (t) => {
  const dataDir = copy(t);
  chmodSync(dataDir, 0o555);
  const isRoot = process.geteuid?.() === 0;
  const { code, err } = await doctor(t, { dataDir, ...(isRoot ? { uid: 65_534 } : {}) });
  assert.equal(code, 1);
  assert.match(err, /cannot keep state in .*: this user may not write there\. Choose another directory with --data/);
});

test("the limit of open files is too small", (t) =>
  finds(
    t,
    { shell: "ulimit -n 512;" },
    /^open files: this user's programs may have only 512 files .*\. Set LimitNOFILE=1048576 in the unit/,
  ));

test("the clock is behind its own files", async (t) => {
  const dataDir = copy(t);
  const tomorrow = new Date(Date.now() + DAY_MS);
  utimesSync(join(dataDir, "seal.key"), tomorrow, tomorrow);
  await finds(t, { dataDir }, /^clock: it shows \S+, but a file in \S+ was written at \S+: .*\. Set the clock, and turn on NTP/);
});

test("the disk is nearly full", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-full-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", dataDir]).status === 0;
  t.after(() => {
    if (mounted) execFileSync("umount", [dataDir]);
    rmSync(dataDir, { recursive: true, force: true });
  });
  if (!mounted) return t.skip("this user may not mount a small disk");
  cpSync(used, dataDir, { recursive: true });
  await finds(t, { dataDir }, /^disk: the disk of \S+ has only \d+ MB left; .*\. Make room, move the directory to a larger disk/);
});

test("a resolver is dead", async (t) => {
  const silent = createSocket("udp4").bind(0, "127.0.0.1");
  t.after(() => silent.close());
  await once(silent, "listening");
  await finds(
    t,
    { flags: [`--dns-resolvers=127.0.0.1:${silent.address().port}`] },
    /^resolver: the resolver 127\.0\.0\.1:\d+ of dns\.resolvers does not answer \(ETIMEOUT\): .*\. Start it, or set dns\.resolvers to others$/,
  );
});

test("the certificate has expired, or the key does not belong to it", { skip: toolOrSkip("openssl") }, async (t) => {
  const directory = copy(t);
  const path = (name: string): string => join(directory, name);
  const make = (name: string): void => {
    const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x", "-days", "3"];
    execFileSync("openssl", [...request, "-keyout", path(`${name}.key`), "-out", path(`${name}.pem`)], { stdio: "pipe" });
  };
  make("one");
  make("other");
  const flags = (certificate: string, key: string): readonly string[] => [
    `--tls-certificate=${path(certificate)}`,
    `--tls-key=${path(key)}`,
  ];
  await finds(
    t,
    { flags: flags("one.pem", "other.key") },
    /^certificate: tls\.key: .*other\.key does not belong to the certificate in .*one\.pem\. Set tls\.certificate and tls\.key to/,
  );
  await finds(t, { flags: flags("one.pem", "one.key") }, /^certificate: .* expires on \d{4}-\d\d-\d\d, in [12] days\. Renew it/);
  const request = ["req", "-new", "-key", path("one.key"), "-subj", "/CN=x", "-out", path("old.csr")];
  execFileSync("openssl", request, { stdio: "pipe" });
  const dated = ["-not_before", "20200101000000Z", "-not_after", "20200201000000Z"];
  const signed = spawnSync("openssl", ["x509", "-req", "-in", path("old.csr"), "-key", path("one.key"), "-out", path("old.pem"), ...dated]);
  if (signed.status !== 0) return t.diagnostic("this openssl makes no certificate of the past");
  await finds(t, { flags: flags("old.pem", "one.key") }, /^certificate: the certificate in .* expired on 2020-02-01\. Renew it/);
});

test("the last backup is too old", async (t) => {
  const dataDir = copy(t);
  const created_on = new Date(Date.now() - 9 * DAY_MS).toISOString();
  writeFileSync(join(dataDir, "last-backup.json"), JSON.stringify({ created_on, file: "old.tar.gz", bytes: 1 }));
  await finds(
    t,
    { dataDir, flags: ["--backup-every-hours=24", `--backup-directory=${tmpdir()}`] },
    /^last backup: the last one is of \S+, although backup\.every_hours is 24\. Look for failed backups in the server's log/,
  );
});

test("the database is damaged", async (t) => {
  const dataDir = copy(t);
  const file = join(dataDir, "control.db");
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0x5a, 8192, bytes.length - 4096));
  const { code, wrong } = await doctor(t, { dataDir });
  assert.equal(code, 1);
  assert.match(wrong.join("\n"), /^database file: .*; restore it from a backup; without one, rebuild it .* selvedge doctor --rebuild/m);
});

test("other users may read the key", async (t) => {
  const dataDir = copy(t);
  chmodSync(join(dataDir, "seal.key"), 0o644);
  await finds(t, { dataDir }, /^permissions: other users may read or change \S+seal\.key \(mode 644\)\. Run: chmod 600 \S+seal\.key$/);
});

test("the bus and the counters cannot be reached", async (t) => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  await finds(
    t,
    { flags: [`--bus-url=nats://127.0.0.1:${port}`] },
    /^bus: 127\.0\.0\.1:\d+ of the bus cannot be reached \(ECONNREFUSED\): .*\. Start/,
  );
  await finds(
    t,
    { flags: [`--counters-url=redis://127.0.0.1:${port}`] },
    /^counters: redis:\/\/127\.0\.0\.1:\d+ cannot be used: .*ECONNREFUSED.*\. Start that server/,
  );
});

test("the key is missing", async (t) => {
  const dataDir = copy(t);
  rmSync(join(dataDir, "seal.key"));
  await finds(t, { dataDir }, /^permissions: \S+seal\.key is missing, and secrets in the database are sealed with it\. Restore the file/);
});

test("the key belongs to another database", async (t) => {
  const dataDir = copy(t);
  writeFileSync(join(dataDir, "seal.key"), Buffer.alloc(32, 7));
  await finds(t, { dataDir }, /^permissions: \S+seal\.key does not open the secrets in the database\. Restore the file from the backup/);
});

test("PostgreSQL does not run", async (t) => {
  const flags = ["--database-url=postgres://selvedge:hidden@127.0.0.1:1/selvedge"];
  await finds(t, { flags }, /^database: cannot use the database postgres:\/\/127\.0\.0\.1:1\/selvedge: .*; start that server, let this/);
});

test("a newer program has made the database", async (t) => {
  const dataDir = copy(t);
  const db = new DatabaseSync(join(dataDir, "control.db"));
  db.exec("INSERT INTO schema_migrations (version, name, applied_on) VALUES (99999, 'later', '2030-01-01')");
  db.close();
  await finds(t, { dataDir }, /^database: the database has schema version 99999 .*: start the newer program that made it/);
});

test("a file belongs to another user", { skip: process.geteuid?.() === 0 ? false : "needs root" }, async (t) => {
  const dataDir = copy(t);
  for (const path of [dataDir, ...readdirSync(dataDir, { recursive: true }).map((name) => join(dataDir, String(name)))])
    chownSync(path, 65_534, 65_534);
  chownSync(join(dataDir, "control.db"), 0, 0);
  const { code, wrong } = await doctor(t, { dataDir, uid: 65_534 });
  assert.equal(code, 1);
  assert.match(wrong.join("\n"), /^files: this user may not read and write \S+control\.db\. Run as root: chown -R 65534:65534/m);
  assert.doesNotMatch(wrong.join("\n"), /restore/i);
});

test("scheduled backups cannot be written", async (t) => {
  const flags = ["--backup-every-hours=24", `--backup-directory=${join(used, "seal.key", "backups")}`];
  await finds(
    t,
    { flags },
    /^backup directory: this user may not write in \S+seal\.key, so that no scheduled backup is made\. Give the directory/,
  );
});

test("an address without a port of its own is named with its listener", async (t) => {
  await finds(t, { flags: ["--gateway-host=192.0.2.77"] }, /^ports: the AI gateway cannot listen on 192\.0\.2\.77:0 \(EADDRNOTAVAIL\)/);
});
