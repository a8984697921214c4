import assert from "node:assert/strict";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import { type Op, opWeight } from "#snapshot/entries.ts";
import { createSnapshotState } from "#snapshot/state.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../../test/support/control.ts";
import { dump } from "../../../../test/support/feed.ts";
import { storeTest } from "../../../../test/support/store.ts";
import { createLargeChanges } from "./large-change.ts";

const failing =
  (name: string, message = /(?:)/) =>
  (error: unknown) =>
    error instanceof PlatformError && error.errorName === name && message.test(error.message);

const PAGE = { page: 1, per_page: 10 };
const hosts = (count: number): string => Array.from({ length: count }, (_, i) => `h${i} 300 A 192.0.2.1\n`).join("");

async function largeZone(store: Store, records: number) {
  const fixture = await controlOver(store);
  const { control, account_id, call } = fixture;
  const { id } = await control.zones.create(call(), { name: "example.com", account: { id: account_id } });
  const zone = { id, name: "example.com", account_id, plan: "enterprise" };
  await control.zoneFiles.import(call(), zone, hosts(records), { proxied: false });
  const plane = createSnapshotState();
  /** How many records the plane had after each delta. */
  const follow = async (): Promise<number[]> => {
    const counts = new Set<number>();
    for (const { rev, changes } of (await store.changesSince(plane.rev, 1000)) ?? []) {
      for (const op of changes as readonly Op[]) assert.ok(opWeight(op) <= 125, "others wait for half a part of the version");
      assert.ok(changes.length <= 125, `a delta of ${changes.length}`);
      plane.apply(rev, changes as readonly Op[]);
      counts.add([...plane.entries("record")].length);
    }
    return [...counts];
  };
  await follow();
  const total = async () => (await control.dnsRecords.list(zone, {}, PAGE)).total_count;
  const versions = async () => (await control.dnsVersions.list(zone, PAGE)).items;
  const [version] = await versions();
  return { ...fixture, zone, plane, follow, total, versions, version: version?.version ?? 0 };
}

storeTest("an undo of thousands of records is written in chunks, and the planes apply it at once", async ({ store }) => {
  const { control, zone, call, plane, follow, total, versions, version } = await largeZone(store, 2_600);
  const undone = await control.dnsVersions.revert(call(), zone, version);
  assert.deepEqual([undone.kind, undone.deleted, undone.refers_to], ["revert", 2_600, version]);
  assert.deepEqual([await total(), await follow()], [0, [2_600, 0]]);

  // And back, with something in between that nobody wants to lose.
  await control.dnsRecords.create(call(), zone, { type: "TXT", name: "h1", content: '"kept"' });
  await follow();
  const again = await control.dnsVersions.revert(call(), zone, undone.version);
  assert.deepEqual([again.kind, again.created], ["revert", 2_600]);
  assert.deepEqual([await total(), await follow()], [2_601, [1, 2_601]]);
  const restored = await control.dnsVersions.restore(call(), zone, undone.version);
  assert.deepEqual([restored.kind, restored.deleted], ["restore", 2_601]);
  assert.deepEqual([await total(), await follow()], [0, [2_601, 0]]);
  // Restored again there is nothing to do.
  assert.equal((await control.dnsVersions.restore(call(), zone, restored.version)).version, restored.version);
  assert.equal((await versions()).length, 5);
  const changes = await control.dnsVersions.changes(zone, again.version, { page: 26, per_page: 100 });
  assert.deepEqual([changes.total_count, changes.items.length], [2_600, 100]);

  const { ops } = await rebuildSnapshot(store);
  const whole = createSnapshotState();
  whole.replace(plane.rev, ops);
  assert.deepEqual(dump(plane), dump(whole));
});

storeTest("an undo that meets a changed record changes nothing", async ({ store }) => {
  const { control, zone, call, follow, total, versions, version } = await largeZone(store, 2_600);
  const { items } = await control.dnsRecords.list(zone, { name: "h2599.example.com" }, PAGE);
  await control.dnsRecords.edit(call(), zone, items[0]?.id ?? "", { ttl: 600 });
  await assert.rejects(control.dnsVersions.revert(call(), zone, version), failing("dns_undo_conflict", /h2599\.example\.com A/));
  assert.deepEqual([await total(), (await follow()).at(-1), (await versions()).length], [2_600, 2_600, 2]);

  // Records that cannot be restored are found chunk by chunk, and earlier chunks are undone.
  const { version: now } = (await versions())[0]!;
  const gone = await control.dnsVersions.restore(call(), zone, version - 1).catch(() => null);
  assert.equal(gone, null, "the version before the first one was never kept");
  const file = await control.zoneFiles.import(call(), zone, Array.from({ length: 2_600 }, (_, i) => `k${i} 300 A 192.0.2.2`).join("\n"), {
    proxied: false,
  });
  assert.equal(file.recs_added, 2_600);
  const [added] = await versions();
  const removed = await control.dnsVersions.revert(call(), zone, added!.version);
  await control.dnsRecords.create(call(), zone, { type: "CNAME", name: "k2500", content: "x.example" });
  await follow();
  await assert.rejects(control.dnsVersions.revert(call(), zone, removed.version), failing("dns_undo_conflict", /k2500\.example\.com/));
  assert.deepEqual([await total(), (await follow()).every((count) => count === 2_601)], [2_601, true]);
  assert.equal((await control.dnsVersions.restore(call(), zone, now)).kind, "restore");
  assert.equal(await total(), 2_600);
});

storeTest("a large change locks the zone's records, and a starting plane gets the state before it", async ({ store }) => {
  const { control, zone, call, version } = await largeZone(store, 2_600);
  const large = createLargeChanges({ store, clock: systemClock });
  const change = await large.begin(call(), zone, "revert");
  const rows = await store.read.selectFrom("dns_records").selectAll().limit(250).execute();
  await store.write((unit) =>
    large.write(
      unit,
      change,
      rows.map((before) => ({ before, after: null })),
    ),
  );
  await assert.rejects(
    control.dnsRecords.create(call(), zone, { type: "A", name: "x", content: "192.0.2.1" }),
    failing("dns_import_under_way"),
  );
  await assert.rejects(control.dnsVersions.revert(call(), zone, version), failing("dns_import_under_way"));
  const { rev, ops } = await rebuildSnapshot(store);
  const plane = createSnapshotState();
  plane.replace(rev, ops);
  assert.equal([...plane.entries("record")].length, 2_600);

  // The program ends here. The next one takes it back, rows and all.
  await createLargeChanges({ store, clock: systemClock }).removeAbandoned(call());
  await store.write(({ db }) => db.updateTable("dns_imports").set({ touched_on: "" }).execute());
  await createLargeChanges({ store, clock: systemClock }).removeAbandoned(call());
  assert.deepEqual(await store.read.selectFrom("dns_imports").select("id").execute(), []);
  const back = await store.read.selectFrom("dns_records").selectAll().where("id", "=", rows[0]!.id).execute();
  assert.deepEqual(back, [rows[0]]);
  for (const { rev: next, changes } of (await store.changesSince(plane.rev, 1000)) ?? []) plane.apply(next, changes as readonly Op[]);
  assert.deepEqual([[...plane.entries("record")].length, [...plane.staged()].length], [2_600, 0]);
  await control.dnsRecords.create(call(), zone, { type: "A", name: "x", content: "192.0.2.1" });
});
