import assert from "node:assert/strict";
import { PlatformError } from "#kernel/errors/errors.ts";
import { importOfZone } from "#store/dns/dns-imports.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { controlOver } from "../../../../test/support/control.ts";
import { failing } from "../../../../test/support/failing.ts";
import { storeTest } from "../../../../test/support/store.ts";

const AWAY = 10503;
const RECORDS = 2_600;
const PAGE = { page: 1, per_page: 10 };
const hosts = Array.from({ length: RECORDS }, (_, i) => `h${i} 300 A 192.0.2.1\n`).join("");
const away = () => new PlatformError("database_unavailable");

/** `fails` is asked at the end of each unit that is part of a large change, and `isLost` once it is committed. */
async function faultyZone(real: Store) {
  const faults = { fails: () => false, isLost: async () => false };
  let zoneId = "";
  const write: Store["write"] = async (work, options) => {
    const written = await real.write(async (unit: Unit) => {
      const result = await work(unit);
      if (zoneId !== "" && (await importOfZone(unit.db, zoneId)) !== undefined && faults.fails()) throw away();
      return result;
    }, options);
    if (await faults.isLost()) throw away();
    return written;
  };
  const store = new Proxy(real, { get: (target, name) => (name === "write" ? write : Reflect.get(target, name, target)) });
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "example.com", account: { id: account_id } });
  zoneId = id;
  const zone = { id, name: "example.com", account_id, plan: "enterprise" };
  const total = async () => (await control.dnsRecords.list(zone, {}, PAGE)).total_count;
  return { faults, control, zone, call, total };
}

storeTest("a large change goes on after units for which the database was not available", async ({ store }) => {
  const { faults, control, zone, call, total } = await faultyZone(store);
  let units = 0;
  faults.fails = () => [3, 6].includes(++units);
  const imported = await control.zoneFiles.import(call(), zone, hosts, { proxied: false });
  assert.ok(units > 6);
  assert.deepEqual([imported.recs_added, await total()], [RECORDS, RECORDS]);
  const [version] = (await control.dnsVersions.list(zone, PAGE)).items;
  const changes = await control.dnsVersions.changes(zone, version?.version ?? 0, { page: RECORDS / 100, per_page: 100 });
  assert.deepEqual([changes.total_count, changes.items.length], [RECORDS, 100]);
  units = 0;
  const undone = await control.dnsVersions.revert(call(), zone, version?.version ?? 0);
  assert.ok(units > 6);
  assert.deepEqual([undone.deleted, await total()], [RECORDS, 0]);
});

storeTest("a large change whose last commit was reported as failed is not taken back", async ({ store }) => {
  const { faults, control, zone, call, total } = await faultyZone(store);
  let isUnderWay = false;
  faults.isLost = async () => {
    const was = isUnderWay;
    isUnderWay = (await importOfZone(store.read, zone.id)) !== undefined;
    return was && !isUnderWay;
  };
  await assert.rejects(control.zoneFiles.import(call(), zone, hosts, { proxied: false }), failing(AWAY));
  assert.equal(await total(), RECORDS, "the planes have these records");
  const [version] = (await control.dnsVersions.list(zone, PAGE)).items;
  await assert.rejects(control.dnsVersions.revert(call(), zone, version?.version ?? 0), failing(AWAY));
  assert.equal(await total(), 0);
});

storeTest("units of a large change whose commits were reported as failed are done once, and the change goes on", async ({ store }) => {
  const { faults, control, zone, call, total } = await faultyZone(store);
  let units = 0;
  /** The first run of the third and the sixth unit, and the second run of the sixth, which finds it done. */
  faults.isLost = async () => (await importOfZone(store.read, zone.id)) !== undefined && [3, 7, 8].includes(++units);
  const imported = await control.zoneFiles.import(call(), zone, hosts, { proxied: false });
  assert.ok(units > 9);
  assert.deepEqual([imported.recs_added, await total()], [RECORDS, RECORDS]);
  const [version] = (await control.dnsVersions.list(zone, PAGE)).items;
  const changes = await control.dnsVersions.changes(zone, version?.version ?? 0, { page: RECORDS / 100, per_page: 100 });
  assert.deepEqual([changes.total_count, changes.items.length], [RECORDS, 100]);
  assert.deepEqual(await recordsTold(store), RECORDS);
  units = 0;
  const undone = await control.dnsVersions.revert(call(), zone, version?.version ?? 0);
  assert.ok(units > 9);
  assert.deepEqual([undone.deleted, await total()], [RECORDS, 0]);
});

/** Number of records in the pieces that the planes were sent, each of which came once. */
async function recordsTold(store: Store): Promise<number> {
  const changes = ((await store.changesSince(0, 10_000)) ?? []).flatMap((set) => set.changes);
  const pieces = changes.filter(({ kind }) => kind === "staged");
  assert.equal(new Set(pieces.map(({ id }) => id)).size, pieces.length);
  return pieces.reduce((sum, { value }) => sum + (value as { records: readonly unknown[] }).records.length, 0);
}
