import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { Resolver } from "node:dns/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { eventually } from "../support/eventually.ts";
import { FREE_PORTS, api, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");
const PASSPHRASE = "correct horse battery staple";

/** Runs the program to its end. */
const run = (...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> =>
  new Promise((resolve) => {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SELVEDGE_")));
    execFile(process.execPath, [PROGRAM, ...args], { env, timeout: 180_000, killSignal: "SIGKILL" }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });

const directory = (t: TestContext): string => {
  const path = mkdtempSync(join(tmpdir(), "selvedge-backup-"));
  t.after(() => removeDirectory(path));
  return path;
};

const recordNames = async (server: Selvedge, token: string, zone: string): Promise<ReadonlySet<string>> => {
  const { body } = await api(server, token, "GET", `/zones/${zone}/dns_records?per_page=5000&type=TXT`);
  assert.equal(body.success, true, JSON.stringify(body));
  return new Set(body.result.map(({ name }: { readonly name: string }) => name));
};

test("a backup taken under write load has every acknowledged record, and an empty machine serves it", async (t) => {
  const [data, place] = [directory(t), directory(t)];
  const server = await startSelvedge({ dataDir: data });
  t.after(() => server.stop());
  const token = server.ready.token ?? "";
  const call = (method: string, path: string, body?: object) => api(server, token, method, path, body);
  const zone = (await call("POST", "/zones", { name: "example.com", account: { id: server.ready.account_id } })).body.result.id as string;
  const acknowledged: string[] = [];
  let isOver = false;
  const writer = async (number: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const name = `r${number}-${i}.example.com`;
      const { status } = await call("POST", `/zones/${zone}/dns_records`, { type: "TXT", name, content: "x".repeat(1_000), ttl: 60 });
      if (status === 200) acknowledged.push(name);
    }
  };
  const writers = [1, 2, 3, 4].map(writer);
  await eventually(async () => acknowledged.length >= 50);
  const before = [...acknowledged];
  const passphrase = join(place, "passphrase");
  writeFileSync(passphrase, `${PASSPHRASE}\n`);
  const file = join(place, "backups", "one.age");
  const made = await run("backup", file, "--data", data, "--passphrase-file", passphrase, "--json");
  assert.equal(made.code, 0, made.err);
  const during = acknowledged.length;
  await eventually(async () => acknowledged.length > during);
  isOver = true;
  await Promise.all(writers);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(place, "backups")), ["one.age"]);
  const last = JSON.parse(readFileSync(join(data, "last-backup.json"), "utf8")) as { readonly file: string };
  assert.equal(last.file, file);
  const metrics = await (await fetch(`${server.ready.ops}/metrics`)).text();
  assert.match(metrics, /^selvedge_backup_last_timestamp_seconds 1\d{9}(\.\d+)?$/m);

  const elsewhere = join(directory(t), "new");
  const wrong = join(place, "wrong");
  writeFileSync(wrong, "something else entirely\n");
  for (const [args, message] of [
    [["--passphrase-file", wrong], /the passphrase does not decrypt the file/],
    [[], /is encrypted: give the passphrase with --passphrase-file/],
  ] as const) {
    const refused = await run("restore", file, "--data", elsewhere, ...args);
    assert.equal(refused.code, 1);
    assert.match(refused.err, message);
  }
  const restored = await run("restore", file, "--data", elsewhere, "--passphrase-file", passphrase, "--json");
  assert.equal(restored.code, 0, restored.err);
  assert.ok(!existsSync(join(elsewhere, "cache")) && !existsSync(join(elsewhere, ".restore")));
  const again = await run("restore", file, "--data", elsewhere, "--passphrase-file", passphrase);
  assert.match(`${again.code} ${again.err}`, /^1 .*is not empty \(it holds .*--data/);

  const other = await startSelvedge({ dataDir: elsewhere });
  t.after(() => other.stop());
  assert.equal(other.ready.token, undefined, "the first token is the one that the first start has shown");
  const names = await recordNames(other, token, zone);
  assert.deepEqual(
    before.filter((name) => !names.has(name)),
    [],
  );
  for (const name of names) assert.ok(acknowledged.includes(name), `${name} was never acknowledged`);
  const added = await api(other, token, "POST", `/zones/${zone}/dns_records`, { type: "A", name: "after", content: "192.0.2.1", ttl: 60 });
  assert.equal(added.status, 200);
  const resolver = new Resolver();
  resolver.setServers([other.ready.dns]);
  assert.deepEqual(await resolver.resolve4("after.example.com"), ["192.0.2.1"]);
  assert.equal((await resolver.resolveTxt(before[0] ?? "")).flat().join(""), "x".repeat(1_000));
});

test("tar reads an unencrypted backup, and restore refuses a truncated, changed or foreign file as a whole", async (t) => {
  const [data, place] = [directory(t), directory(t)];
  const nothing = await run("backup", join(place, "x"), "--data", data);
  assert.match(`${nothing.code} ${nothing.err}`, /^1 .*nothing to back up/);
  const first = await startSelvedge({ dataDir: data });
  await first.stop();
  const file = join(place, "plain.tar.gz");
  const made = await run("backup", file, "--data", data);
  assert.equal(made.code, 0, made.err);
  assert.match(made.err, /is not encrypted, and holds the key to every secret/);
  const twice = await run("backup", file, "--data", data);
  assert.match(`${twice.code} ${twice.err}`, /^1 .*exists already/);
  const unpacked = join(place, "unpacked");
  mkdirSync(unpacked);
  execFileSync("tar", ["-xzf", file, "-C", unpacked]);
  execFileSync("sha256sum", ["--check", "--quiet", "checksums.sha256"], { cwd: unpacked });
  assert.deepEqual(readFileSync(join(unpacked, "seal.key")), readFileSync(join(data, "seal.key")));

  const target = join(directory(t), "new");
  const refused = async (path: string, message: RegExp): Promise<void> => {
    const { code, err } = await run("restore", path, "--data", target);
    assert.equal(code, 1, err);
    assert.match(err, message);
    assert.deepEqual(existsSync(target) ? readdirSync(target).filter((name) => name !== "lock.db") : [], []);
  };
  const cut = join(place, "cut");
  copyFileSync(file, cut);
  truncateSync(cut, statSync(file).size - 20);
  await refused(cut, /the file is damaged or incomplete/);
  const foreign = join(place, "foreign.tar.gz");
  execFileSync("tar", ["-czf", foreign, "-C", unpacked, "--transform", "s,^seal.key$,../evil,", "seal.key"]);
  await refused(foreign, /it contains \.\.\/evil, which does not belong in a backup/);
  writeFileSync(join(unpacked, "seal.key"), Buffer.alloc(32));
  const changed = join(place, "changed.tar.gz");
  execFileSync("tar", [
    "-czf",
    changed,
    "--format=ustar",
    "-C",
    unpacked,
    "backup.json",
    "control.db",
    "events.db",
    "seal.key",
    "checksums.sha256",
  ]);
  await refused(changed, /seal\.key is damaged/);
  const partial = join(place, "partial.tar.gz");
  execFileSync("tar", ["-czf", partial, "--format=ustar", "-C", unpacked, "backup.json", "control.db", "events.db", "checksums.sha256"]);
  await refused(partial, /seal\.key is missing/);
  writeFileSync(join(place, "text"), "hello");
  await refused(join(place, "text"), /is not a Selvedge backup/);
  const good = await run("restore", file, "--data", target);
  assert.equal(good.code, 0, good.err);
  const looked = await run("doctor", "--data", target, ...FREE_PORTS);
  assert.equal(looked.code, 0, looked.out);
  const at = await run("doctor", "--data", data);
  assert.match(at.out, /^last backup +\d{4}-.* \(.*\)/m);
});
