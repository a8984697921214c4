import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { api, startSelvedge } from "../support/selvedge.ts";

/** A state directory of a stopped server; every test damages a separate copy. */
let whole: string;
let token: string;
let zone: string;

before(async () => {
  whole = mkdtempSync(join(tmpdir(), "selvedge-damage-"));
  const selvedge = await startSelvedge({ dataDir: whole });
  token = selvedge.ready.token ?? "";
  const made = await api(selvedge, token, "POST", "/zones", { name: "kept.example", account: { id: selvedge.ready.account_id } });
  zone = made.body.result.id;
  await api(selvedge, token, "POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "192.0.2.1", ttl: 60 });
  await selvedge.stop();
});
after(() => rmSync(whole, { recursive: true, force: true }));

const overwrite =
  (name: string, from: number, to: number) =>
  (directory: string): void => {
    const bytes = readFileSync(join(directory, name));
    writeFileSync(join(directory, name), bytes.fill(0x5a, from, Math.min(to, bytes.length)));
  };

/** Damage that a start survives: the planes and the API serve as if nothing had happened, and the log names the damage. */
const SURVIVED: readonly (readonly [what: string, damage: (directory: string) => void, log: RegExp])[] = [
  ["a last good copy with other bytes", overwrite("snapshot.last-good", 10, 60), /last good copy is invalid/],
  ["half a last good copy", (at) => truncateSync(join(at, "snapshot.last-good"), 20), /last good copy is invalid/],
  ["a journal of noise", (at) => writeFileSync(join(at, "snapshot.last-good.journal"), "x\ny"), /journal of the last good copy is corrupt/],
  ["events that are no database", (at) => writeFileSync(join(at, "events.db"), "noise".repeat(4096)), /events database cannot be used/],
  ["a run file of noise", (at) => writeFileSync(join(at, "run.json"), "{"), /"msg":"ready"/],
];
for (const [what, damage, log] of SURVIVED) {
  test(`the server starts despite ${what}`, async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "selvedge-damage-"));
    try {
      cpSync(whole, dataDir, { recursive: true });
      damage(dataDir);
      const selvedge = await startSelvedge({ dataDir });
      const resolver = new Resolver({ tries: 2, timeout: 20_000 });
      resolver.setServers([selvedge.ready.dns]);
      assert.deepEqual(await resolver.resolve4("www.kept.example"), ["192.0.2.1"]);
      assert.equal((await api(selvedge, token, "GET", `/zones/${zone}/security/events`)).status, 200);
      assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
      await selvedge.logged(log);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
}

const lastGoodOf = (dataDir: string): Buffer | null =>
  readdirSync(dataDir).includes("snapshot.last-good") ? readFileSync(join(dataDir, "snapshot.last-good")) : null;

/** Damage that a start cannot survive, and the line that reports it. */
const REFUSED: readonly (readonly [what: string, damage: (directory: string) => void, message: RegExp])[] = [
  [
    "a database of noise, without a last good copy",
    (at) => {
      writeFileSync(join(at, "control.db"), "noise".repeat(4096));
      rmSync(join(at, "snapshot.last-good"));
    },
    /^selvedge: cannot start: cannot use the database .*control\.db: file is not a database; restore it from a backup$/m,
  ],
  [
    "damaged pages of the database, with a last good copy that is damaged too",
    (at) => {
      overwrite("control.db", 8192, 1e9)(at);
      truncateSync(join(at, "snapshot.last-good"), 20);
    },
    /^selvedge: cannot start: cannot use the database .*; restore it from a backup$/m,
  ],
  ["a missing sealing key", (at) => rmSync(join(at, "seal.key")), /^selvedge: cannot start: .*seal\.key is missing/m],
];
for (const [what, damage, message] of REFUSED) {
  test(`the server refuses to start with ${what}, and writes nothing`, async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "selvedge-damage-"));
    try {
      cpSync(whole, dataDir, { recursive: true });
      damage(dataDir);
      const before = readFileSync(join(dataDir, "control.db"));
      const copy = lastGoodOf(dataDir);
      await assert.rejects(startSelvedge({ dataDir }), (error: Error) => {
        assert.match(error.message, /ended with 1 before it was ready/);
        assert.match(error.message, message);
        return true;
      });
      assert.ok(readFileSync(join(dataDir, "control.db")).equals(before));
      assert.deepEqual(lastGoodOf(dataDir), copy);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
}
