import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { openStore } from "#store/database/open.ts";
import { loadConfig } from "#app/config/config.ts";
import { startObjectServer } from "../../../test/support/object-server.ts";
import { createScheduledBackups } from "./scheduled-backups.ts";

/** A data directory with a database, and one for backups. */
async function stage(t: TestContext, env: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), "selvedge-schedule-"));
  t.after(() => rmSync(root, { recursive: true }));
  const data = join(root, "data");
  const directory = join(root, "backups");
  mkdirSync(data);
  const store = await openStore({ url: `sqlite:${join(data, "control.db")}`, clock: systemClock });
  await store.close();
  writeFileSync(join(data, "seal.key"), Buffer.alloc(32), { mode: 0o600 });
  const clock = fixedClock(new Date(systemClock.nowMs()).toISOString());
  const metrics = createMetrics();
  const config = loadConfig({
    argv: ["--data", data],
    env: { SELVEDGE_BACKUP_EVERY_HOURS: "1", SELVEDGE_BACKUP_DIRECTORY: directory, ...env },
    readFile: () => "",
  });
  const backups = createScheduledBackups({ clock, metrics, config: () => config });
  const failures = (): number => metrics.samples().find(({ name }) => name === "selvedge_backup_failures_total")?.value ?? 0;
  return { root, data, directory, clock, backups, failures };
}

test("a backup is made when due, and the oldest above the limit is deleted", async (t) => {
  const { directory, clock, backups } = await stage(t, {
    SELVEDGE_BACKUP_FILES_MAX: "1",
    SELVEDGE_BACKUP_RECIPIENTS: "age1n5kmevdkqtgsyyujfeh7m664vr6hefpdu82qmlv83dctm8t6yamqn56ldw",
  });
  const first = await backups.makeDue();
  assert.match(first?.file ?? "", /\/selvedge-\d{8}T\d{6}Z\.tar\.gz\.age$/);
  assert.match(readFileSync(first?.file ?? "", "latin1"), /^age-encryption\.org\/v1\n-> X25519 /);
  writeFileSync(join(directory, "selvedge-mine.tar.gz"), "");
  assert.equal(await backups.makeDue(), null);
  clock.advance(3_500_000);
  assert.equal(await backups.makeDue(), null);
  clock.advance(200_000);
  const second = await backups.makeDue();
  assert.equal(second?.removed, 1);
  assert.deepEqual(
    readdirSync(directory)
      .map((name) => join(directory, name))
      .toSorted(),
    [second?.file, join(directory, "selvedge-mine.tar.gz")].toSorted(),
  );
});

test("a failed backup is counted, leaves no file, and is retried after ten minutes", async (t) => {
  const { directory, clock, backups, failures } = await stage(t, {});
  writeFileSync(directory, "");
  await assert.rejects(backups.makeDue(), /EEXIST|ENOTDIR/);
  assert.equal(failures(), 1);
  assert.equal(await backups.makeDue(), null);
  rmSync(directory);
  clock.advance(600_000);
  assert.ok((await backups.makeDue()) !== null);
  assert.equal(readdirSync(directory).length, 1);
});

test("contradictory backup settings are refused", () => {
  const load = (env: Readonly<Record<string, string>>) => () => loadConfig({ argv: [], env, readFile: () => "" });
  assert.throws(load({ SELVEDGE_BACKUP_EVERY_HOURS: "1" }), /backup\.directory must be set/);
  assert.throws(load({ SELVEDGE_BACKUP_RECIPIENTS: "age1nobody" }), /must be a list of public keys of age/);
});

test("with a bucket, each backup is copied to it, and a copy that failed is tried again after ten minutes", async (t) => {
  const server = await startObjectServer();
  t.after(() => server.close());
  const { endpoint, region, bucket, access_key_id, secret_access_key } = server.config();
  const { clock, backups, failures } = await stage(t, {
    ...{ SELVEDGE_BACKUP_IN_S3: "true", SELVEDGE_S3_ENDPOINT: endpoint, SELVEDGE_S3_REGION: region, SELVEDGE_S3_BUCKET: bucket },
    ...{ SELVEDGE_S3_ACCESS_KEY_ID: access_key_id, SELVEDGE_S3_SECRET_ACCESS_KEY: secret_access_key, SELVEDGE_S3_PREFIX: "edge" },
  });
  server.fails = 503;
  await assert.rejects(backups.makeDue(), /503 SlowDown/);
  assert.equal(failures(), 1);
  server.fails = 0;
  assert.equal(await backups.makeDue(), null);
  assert.deepEqual([...server.objects.keys()], [], "not before ten minutes have passed");
  clock.advance(600_001);
  assert.equal(await backups.makeDue(), null);
  const [key, object] = [...server.objects][0]!;
  assert.match(key, /^edge\/backups\/selvedge-\d{8}T\d{6}Z\.tar\.gz$/);
  assert.ok(object.bytes.length > 1_000);
  clock.advance(3_600_000);
  const next = await backups.makeDue();
  assert.deepEqual([next === null, server.objects.size], [false, 2]);
});
