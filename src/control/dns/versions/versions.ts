import { backgroundTurn } from "#kernel/background-turn.ts";
import type { LongReads } from "#control/long-reads.ts";
import type { Call, Page, PageRequest, Reader } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { changeUnit, type RecordChanger } from "#control/dns/changes/change-records.ts";
import type { RecordChanges } from "#control/dns/changes/change-steps.ts";
import type { RecordView } from "#control/dns/changes/record-view.ts";
import { decodeChanges, sameRecord, type VersionedChange } from "#control/dns/changes/version-changes.ts";
import { assertUnchanged, changesOfRestore, changesOfRevert, idOf, stillChanged, undoChunks } from "./revert-changes.ts";
import {
  byRecordName,
  changesFrom,
  findVersion,
  findVersionRange,
  foldVersions,
  readVersionChanges,
  versionChangeView,
  versionView,
} from "./read-versions.ts";
import { boundedChunks } from "#control/dns/changes/chunk-bound.ts";
import { AT_ONCE_MAX } from "#control/dns/changes/large-change.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import {
  type DnsVersion,
  type DnsVersionChange,
  type DnsVersionDetail,
  type DnsVersionDiffQuery,
  VERSION_CHANGES_SHOWN_MAX,
} from "#model/dns/dns-version.ts";
import { changeCount, type DnsVersionHead, listVersions, versionChanges, versionRange } from "#store/dns/dns-versions.ts";
import type { Store, Unit } from "#store/database/store.ts";

type Db = Unit["db"];

/** Versions of a zone: every write of its records creates one. Throws `dns_version_not_found` and `dns_version_pruned`. */
export interface DnsVersions {
  /** Newest first. */
  list(zone: PlannedZoneRef, page: PageRequest): Promise<Page<DnsVersion>>;
  get(zone: PlannedZoneRef, version: number): Promise<DnsVersionDetail>;
  changes(zone: PlannedZoneRef, version: number, page: PageRequest): Promise<Page<DnsVersionChange>>;
  /** The differences between the zone at `from` and at `to`, by name and type; `from` may be the newer one. */
  diff(zone: PlannedZoneRef, query: DnsVersionDiffQuery, page: PageRequest, reader?: Reader): Promise<Page<DnsVersionChange>>;
  /** Undoes the changes of one version, as a new version. Throws `dns_undo_conflict` if a record has changed since. */
  revert(call: Call, zone: PlannedZoneRef, version: number): Promise<DnsVersion>;
  /** Restores the zone to a version, as a new version; returns the newest if nothing differs. */
  restore(call: Call, zone: PlannedZoneRef, version: number): Promise<DnsVersion>;
}

export interface DnsVersionsDeps {
  readonly store: Store;
  readonly view: RecordView;
  readonly changer: RecordChanger;
  readonly longReads: LongReads;
}

export function createDnsVersions(deps: DnsVersionsDeps): DnsVersions {
  const { store, view, changer, longReads } = deps;
  const show = (change: VersionedChange): DnsVersionChange => versionChangeView(change, view);

  const page = async (db: Db, head: DnsVersionHead, offset: number, limit: number): Promise<DnsVersionChange[]> =>
    (await readVersionChanges(db, head, offset, limit)).map(show);

  /**
   * In chunks. `changes` is called once other callers can no longer change the zone's records, and returns the changes to
   * undo.
   */
  const undoLarge = async (
    call: Call,
    zone: PlannedZoneRef,
    changes: () => Promise<() => AsyncIterable<readonly VersionedChange[]>>,
    options: { readonly kind: "revert" | "restore"; readonly refersTo: number },
  ): Promise<DnsVersion> => {
    const ignored = new Set<string>();
    const pieces = async function* (): AsyncGenerator<RecordChanges> {
      const read = await changes();
      for await (const some of read())
        for (const change of some) if (change.before !== null && change.after !== null) ignored.add(idOf(change));
      yield* undoChunks(read);
    };
    const done = await changer.changeInPieces(call, zone, pieces(), { ...options, ignored });
    const version = done ?? (await versionRange(store.read, zone.id))?.newest ?? options.refersTo;
    return versionView(await findVersion(store.read, zone, version));
  };

  const revertLarge = (call: Call, zone: PlannedZoneRef, { version }: DnsVersionHead): Promise<DnsVersion> => {
    const read = async function* (): AsyncGenerator<readonly VersionedChange[]> {
      for await (const text of versionChanges(store.read, zone.id, version - 1, version)) yield decodeChanges(text);
    };
    const unchanged = async (): Promise<typeof read> => {
      for await (const changes of read()) {
        await assertUnchanged(store.read, zone, changes);
        await backgroundTurn();
      }
      return read;
    };
    return undoLarge(call, zone, unchanged, { kind: "revert", refersTo: version });
  };

  const restoreLarge = (call: Call, zone: PlannedZoneRef, version: number): Promise<DnsVersion> => {
    const changes = async (): Promise<() => AsyncIterable<readonly VersionedChange[]>> => {
      const [, newest] = await findVersionRange(store.read, zone, { from: version });
      const folded = await foldVersions(store.read, zone, version, newest);
      const changed: (readonly VersionedChange[])[] = [];
      for (const some of boundedChunks(folded.values(), ({ before, after }) => after ?? before)) {
        changed.push(await stillChanged(store.read, zone, some));
        await backgroundTurn();
      }
      return async function* () {
        yield* changed;
      };
    };
    return undoLarge(call, zone, changes, { kind: "restore", refersTo: version });
  };

  return {
    list: async (zone, { page: number, per_page }) => {
      const { items, total } = await listVersions(store.read, zone.id, { limit: per_page, offset: (number - 1) * per_page });
      return { items: items.map(versionView), page: number, per_page, total_count: total };
    },

    get: async (zone, version) => {
      const head = await findVersion(store.read, zone, version);
      return { ...versionView(head), changes: await page(store.read, head, 0, VERSION_CHANGES_SHOWN_MAX) };
    },

    changes: async (zone, version, { page: number, per_page }) => {
      const head = await findVersion(store.read, zone, version);
      const items = await page(store.read, head, (number - 1) * per_page, per_page);
      return { items, page: number, per_page, total_count: changeCount(head) };
    },

    diff: async (zone, query, { page: number, per_page }, reader) => {
      const place = await longReads.begin(zone.account_id, reader);
      // A consistent view of the database, so that no version is deleted during the read.
      const read = store.readAt(async (db) => {
        const [older, newer] = await findVersionRange(db, zone, query);
        const folded = await foldVersions(db, zone, older, newer);
        const changes = [...folded.values()].filter(({ before, after }) => !sameRecord(before, after)).toSorted(byRecordName);
        const items = changes
          .slice((number - 1) * per_page, number * per_page)
          .map((change) => show((query.from ?? older) === older ? change : { before: change.after, after: change.before }));
        return { items, page: number, per_page, total_count: changes.length };
      });
      return read.finally(place.release);
    },

    revert: async (call, zone, version) => {
      const head = await findVersion(store.read, zone, version);
      if (changeCount(head) > AT_ONCE_MAX) return revertLarge(call, zone, head);
      const undo = async (unit: Unit): Promise<DnsVersion> => {
        const head = await findVersion(unit.db, zone, version);
        const changes = await changesOfRevert(unit.db, zone, await readVersionChanges(unit.db, head, 0, changeCount(head)));
        const done = await changer.changeWithin(unit, call, zone, changes, { kind: "revert", refersTo: version });
        return versionView(await findVersion(unit.db, zone, done.version ?? version));
      };
      return commit(deps, call, undo, changeUnit(zone, changeCount(head)));
    },

    restore: async (call, zone, version) => {
      await findVersion(store.read, zone, version);
      const changes = await changesFrom(store.read, zone, version);
      if (changes > AT_ONCE_MAX) return restoreLarge(call, zone, version);
      const undo = async (unit: Unit): Promise<DnsVersion> => {
        const [, newest] = await findVersionRange(unit.db, zone, { from: version });
        const changes = await changesOfRestore(unit.db, zone, await foldVersions(unit.db, zone, version, newest));
        const done = await changer.changeWithin(unit, call, zone, changes, { kind: "restore", refersTo: version });
        return versionView(await findVersion(unit.db, zone, done.version ?? newest));
      };
      return commit(deps, call, undo, changeUnit(zone, changes));
    },
  };
}
