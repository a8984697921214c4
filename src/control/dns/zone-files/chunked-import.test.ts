import assert from "node:assert/strict";
import { type Clock, fixedClock, systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import type { Op } from "#snapshot/entries.ts";
import { createSnapshotState, type SnapshotState } from "#snapshot/state.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../../test/support/control.ts";
import { dump } from "../../../../test/support/feed.ts";
import { storeTest } from "../../../../test/support/store.ts";
import { createChunkBound } from "#control/dns/changes/chunk-bound.ts";
import { createLargeChanges } from "#control/dns/changes/large-change.ts";
import { createChunkedImport } from "./chunked-import.ts";
import { type ImportEntry, importChunks, type ImportContext } from "./read-zone-file.ts";

const failing =
  (name: string, message = /(?:)/) =>
  (error: unknown) =>
    error instanceof PlatformError && error.errorName === name && message.test(error.message);

const PAGE = { page: 1, per_page: 100 };
const POLICY = { localOriginAllowed: () => true, edgeAddresses: new Set<string>(), names: "letter_first", txtContent: "quoted" } as const;

/** A line each, so many at a time. */
const hosts = (count: number, from = 0): string => Array.from({ length: count }, (_, i) => `h${from + i} 300 A 192.0.2.1\n`).join("");

async function imported(store: Store, options: { readonly clock?: Clock; readonly recordsPerZoneMax?: number } = {}) {
  const fixture = await controlOver(store, options);
  const { control, account_id, call } = fixture;
  const { id } = await control.zones.create(call(), { name: "example.com", account: { id: account_id } });
  const zone = { id, name: "example.com", account_id, plan: "enterprise" };
  const { clock = systemClock, recordsPerZoneMax = 1_000_000 } = options;
  const pieces = createChunkedImport({
    store,
    clock,
    large: createLargeChanges({ store, clock }),
    recordsPerZoneMax: () => recordsPerZoneMax,
  });
  const scene: ImportContext = { zone, policy: POLICY, proxied: false, onError: "clamp", foreignNameServers: false, nameServers: [] };
  const read = (file: string, size: number): AsyncIterable<readonly ImportEntry[]> => importChunks(file, scene, createChunkBound(size));
  const total = async () => (await control.dnsRecords.list(zone, {}, PAGE)).total_count;
  const versions = async () => (await control.dnsVersions.list(zone, PAGE)).items;
  return { ...fixture, zone, pieces, read, total, versions };
}

/** A plane that takes every delta, with what it held of the zone's records after each. */
async function follow(store: Store, state: SnapshotState): Promise<number[]> {
  const counts: number[] = [];
  for (const { rev, changes } of (await store.changesSince(state.rev, 1000)) ?? []) {
    state.apply(rev, changes as readonly Op[]);
    counts.push([...state.entries("record")].length);
  }
  return counts;
}

/** The pieces, with something done before each but the first. */
async function* between(pieces: AsyncIterable<readonly ImportEntry[]>, work: (piece: number) => Promise<unknown>) {
  let number = 0;
  for await (const piece of pieces) {
    if (number > 0) await work(number);
    number += 1;
    yield piece;
  }
}

storeTest("a large file becomes one version, which the planes apply at once or not at all", async ({ store }) => {
  const { control, zone, call, total } = await imported(store);
  await control.dnsRecords.create(call(), zone, { type: "A", name: "h7", content: "192.0.2.1" });
  const plane = createSnapshotState();
  await follow(store, plane);

  const result = await control.zoneFiles.import(call(), zone, `${hosts(2500)}h3 300 A 192.0.2.1\n`, { proxied: false });
  assert.deepEqual([result.recs_added, result.total_records_parsed, result.import?.status], [2499, 2501, "done"]);
  const counts = await follow(store, plane);
  assert.deepEqual([...new Set(counts)], [1, 2500]);
  assert.equal(counts.indexOf(2500), counts.length - 1);
  const { ops } = await rebuildSnapshot(store);
  const whole = createSnapshotState();
  whole.replace(plane.rev, ops);
  assert.deepEqual(dump(plane), dump(whole));

  assert.equal(await total(), 2500);
  const [version, before] = (await control.dnsVersions.list(zone, PAGE)).items;
  assert.deepEqual([version?.kind, version?.created, before?.kind], ["import", 2499, "create"]);
  await control.dnsVersions.revert(call(), zone, version?.version ?? 0);
  assert.equal(await total(), 1);
});

storeTest(
  "records of few but deep names come and go in pieces of few names, through an import, its undo and the zone's deletion",
  async ({ store }) => {
    const { control, zone, call } = await imported(store);
    let from = 0;
    /** The most names that one unit changes, without those above the zone. */
    const longest = async (): Promise<number> => {
      let names = 0;
      for (const { rev, changes } of (await store.changesSince(from, 10_000)) ?? []) {
        from = rev;
        const records = (changes as readonly Op[]).reduce(
          (sum, op) =>
            sum +
            (op.kind === "staged" ? (op.value?.records.length ?? 0) + (op.value?.removed?.length ?? 0) : op.kind === "record" ? 1 : 0),
          0,
        );
        names = Math.max(names, records * 31);
      }
      return names;
    };
    await longest();
    const file = Array.from({ length: 100 }, (_, i) => `${"l.".repeat(30)}n${i} 300 A 192.0.2.1\n`).join("");
    const { import: job } = await control.zoneFiles.import(call(), zone, file, { proxied: false });
    assert.equal(job?.status, "done", "few records, and too many names for one unit");
    const done = [await longest()];
    const [version] = (await control.dnsVersions.list(zone, PAGE)).items;
    await control.dnsVersions.changes(zone, version!.version, PAGE);
    await control.zones.delete(call(), zone.id);
    await control.removals.run(call());
    done.push(await longest());
    for (const names of done) assert.ok(names > 0 && names <= 550, `a unit of ${names} names`);
  },
);

storeTest("a file of hundreds of records is written in pieces, between which others write", async ({ store }) => {
  const { control, zone, call } = await imported(store);
  assert.equal((await control.zoneFiles.import(call(), zone, hosts(500), { proxied: false })).import, undefined);
  assert.equal((await control.zoneFiles.import(call(), zone, hosts(501, 500), { proxied: false })).import?.status, "done");
});

storeTest("the reader of a zone file lets others run after 50 records, or 4 KB of long ones", async ({ store }) => {
  const { read } = await imported(store);
  /** Ticks of others while a file is read. */
  const ticks = async (file: string): Promise<number> => {
    let count = 0;
    const other = (): void => {
      count += 1;
      next = setImmediate(other);
    };
    let next = setImmediate(other);
    for await (const piece of read(file, 10_000)) assert.ok(piece.length > 0);
    clearImmediate(next);
    return count;
  };
  assert.ok((await ticks(hosts(1_000))) >= 19);
  const long = Array.from({ length: 40 }, (_, i) => `t${i} 300 TXT ${`"${"x".repeat(250)}" `.repeat(8)}\n`).join("");
  assert.ok((await ticks(long)) >= 12, "2 KB each");
});

storeTest("a replica that starts during an import has all of it at the end", async ({ store }) => {
  const { pieces, read, zone, call } = await imported(store);
  const planes: SnapshotState[] = [];
  const join = async (): Promise<void> => {
    const { rev, ops } = await rebuildSnapshot(store);
    const plane = createSnapshotState();
    plane.replace(rev, ops);
    assert.equal([...plane.entries("record")].length, 0);
    planes.push(plane);
  };
  assert.equal(await pieces.import(call(), zone, between(read(hosts(60), 20), join)), 60);
  for (const plane of planes) {
    await follow(store, plane);
    assert.equal([...plane.entries("record")].length, 60);
    assert.deepEqual([...plane.staged()], []);
  }
  assert.equal(planes.length, 2);
});

storeTest("an invalid record undoes the whole import, and the error has its line", async ({ store }) => {
  const { control, pieces, read, zone, call, total, versions } = await imported(store, { recordsPerZoneMax: 50 });
  const plane = createSnapshotState();
  const file = `${hosts(30)}h3 300 CNAME elsewhere.example.\n`;
  await assert.rejects(pieces.import(call(), zone, read(file, 10)), failing("dns_zone_file_invalid", /^Line 31: An A, AAAA, or CNAME/));
  await control.dnsRecords.create(call(), zone, { type: "A", name: "own", content: "192.0.2.1" });
  await assert.rejects(pieces.import(call(), zone, read(hosts(51), 20)), failing("dns_zone_file_invalid", /^Line 50: Record quota/));
  assert.equal(await total(), 1);
  assert.deepEqual(await store.read.selectFrom("dns_imports").selectAll().execute(), []);
  assert.deepEqual(await store.read.selectFrom("dns_version_parts").selectAll().execute(), []);
  assert.deepEqual(
    (await versions()).map(({ kind }) => kind),
    ["create"],
  );
  await follow(store, plane);
  assert.deepEqual([[...plane.entries("record")].length, [...plane.staged()].length], [1, 0]);
});

storeTest("other writes continue during an import, and imported records are locked until it ends", async ({ store }) => {
  const { control, pieces, read, zone, call, total } = await imported(store);
  const meanwhile = async (): Promise<void> => {
    await control.dnsRecords.create(call(), zone, { type: "TXT", name: "h1", content: '"beside"' });
    const clash = control.dnsRecords.create(call(), zone, { type: "CNAME", name: "h1", content: "x.example" });
    await assert.rejects(clash, failing("dns_host_exists"));
    const [record] = (await control.dnsRecords.list(zone, { type: "A" }, PAGE)).items;
    await assert.rejects(control.dnsRecords.edit(call(), zone, record?.id ?? "", { ttl: 600 }), failing("dns_import_under_way"));
    await assert.rejects(pieces.import(call(), zone, read(hosts(5, 100), 5)), failing("dns_import_under_way"));
  };
  assert.equal(await pieces.import(call(), zone, between(read(hosts(20), 10), meanwhile)), 20);
  assert.equal(await total(), 21);
  const [record] = (await control.dnsRecords.list(zone, { type: "A" }, PAGE)).items;
  assert.equal((await control.dnsRecords.edit(call(), zone, record?.id ?? "", { ttl: 600 })).ttl, 600);
});

storeTest("an import whose server ended is undone, and one that only paused notices it", async ({ store }) => {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const { control, pieces, read, zone, call, total } = await imported(store, { clock });
  const pause = async (): Promise<void> => {
    assert.equal(await control.zoneFiles.removeAbandoned(call()), 0);
    clock.advance(61_000);
    assert.equal(await control.zoneFiles.removeAbandoned(call()), 1);
  };
  await assert.rejects(pieces.import(call(), zone, between(read(hosts(20), 10), pause)), failing("dns_import_under_way", /stalled/));
  assert.equal(await total(), 0);
  assert.equal(await control.zoneFiles.removeAbandoned(call()), 0);
});

storeTest("a zone can be deleted during an import", async ({ store }) => {
  const { control, pieces, read, zone, call } = await imported(store);
  const remove = () => control.zones.delete(call(), zone.id);
  await assert.rejects(pieces.import(call(), zone, between(read(hosts(20), 10), remove)), failing("zone_not_found"));
  const left = await rebuildSnapshot(store);
  assert.deepEqual(
    left.ops.filter(({ kind }) => kind === "record" || kind === "staged"),
    [],
  );
  const plane = createSnapshotState();
  await follow(store, plane);
  assert.deepEqual(
    dump(plane).filter(({ kind }) => kind !== "token"),
    [],
  );
});

storeTest("a secondary zone refuses an import of any size", async ({ store }) => {
  const { control, pieces, account_id, call } = await imported(store);
  const { id } = await control.zones.create(call(), { name: "example.net", account: { id: account_id }, type: "secondary" });
  const zone = { id, name: "example.net", account_id, plan: "free" };
  const scene: ImportContext = { zone, policy: POLICY, proxied: false, onError: "clamp", foreignNameServers: false, nameServers: [] };
  await assert.rejects(pieces.import(call(), zone, importChunks(hosts(5), scene)), failing("secondary_zone_read_only"));
});
