import { isoMicros, type Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call } from "#control/call.ts";
import { auditActor } from "#control/commit.ts";
import { CHUNK_CHANGES } from "./chunk-bound.ts";
import { decodeWholeChanges, packChanges, packWholeChanges, type VersionedChange } from "./version-changes.ts";
import { appendStagedVersion } from "./version-log.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { DnsVersionKind } from "#model/dns/dns-version.ts";
import { serialEntry } from "#snapshot/compile/zone-entry.ts";
import { stagedEntry } from "#snapshot/compile/record-entry.ts";
import {
  beginImport,
  type DnsImportRow,
  endImport,
  IMPORT_ID_LENGTH,
  importedRecords,
  importOfZone,
  importsUntouchedSince,
  touchImport,
} from "#store/dns/dns-imports.ts";
import { writeRecords } from "#store/dns/dns-record-rows.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";
import { CHANGES_PER_ROW, deletePart, putVersionPart, lastPart, partsKeyOf } from "#store/dns/dns-versions.ts";
import { removeParts } from "#store/database/removals.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { countImported, touchZone, zoneRowById } from "#store/zones/zones.ts";

/** Changes of at most so many records are one unit of work; larger ones are written in chunks. */
export const AT_ONCE_MAX = 500;
/** The same by their cost (record-cost.ts), where it is known before. */
export const AT_ONCE_COST = 2_000;

/**
 * Changes of a zone that would block every other write for too long as one unit of work. Rows, changes of the version and
 * entries for the planes are written chunk by chunk; the last unit creates the version and releases the entries, so that
 * the zone's answers, serial and history show all of it or nothing. Lists of records show the rows as they are written.
 * If a chunk cannot be written or the process ends, the written chunks are undone.
 */
export interface LargeChanges {
  /**
   * Throws `dns_import_under_way` if the zone has a large change in progress. Until it ends, other callers cannot change
   * its records; unless it is an import, they cannot change any of the zone's records.
   */
  begin(call: Call, zone: PlannedZoneRef, kind: DnsVersionKind): Promise<LargeChange>;
  /** Writes one chunk, whose records are in no other chunk. The caller counts them. */
  write(unit: Unit, change: LargeChange, changes: readonly VersionedChange<DnsRecordRow>[]): Promise<void>;
  /** Creates the version and returns its number. */
  finish(unit: Unit, change: LargeChange, options: { readonly reason: string | null; readonly refersTo: number | null }): Promise<number>;
  takeBack(call: Call, row: DnsImportRow): Promise<void>;
  /** Marks the change as still in progress. */
  touch(row: DnsImportRow): Promise<void>;
  /** Undoes changes that were abandoned; returns their number. */
  removeAbandoned(call: Call): Promise<number>;
}

export interface LargeChangesDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** A large change in progress. */
export interface LargeChange {
  readonly call: Call;
  readonly zone: PlannedZoneRef;
  readonly row: DnsImportRow;
  readonly kind: DnsVersionKind;
  readonly counts: { created: number; updated: number; deleted: number };
  /** Units that are done (large-step.ts). */
  units: number;
  pieces: number;
  /** Number of the version's parts so far; the first is also stored in the version's own row. */
  parts: number;
  firstPart: string;
  /** Changes that do not fill a part yet. They are also stored, unless it is an import. */
  waiting: VersionedChange<DnsRecordRow>[];
}

/** A chunk takes a fraction of a second, so a change without progress for this long has been abandoned by its node. */
const ABANDONED_MS = 60_000;

export function createLargeChanges({ store, clock }: LargeChangesDeps): LargeChanges {
  const now = (): string => isoMicros(clock.nowMicros());
  /** Only one process uses an SQLite file, so changes from before its start are abandoned. */
  const startedOn = store.dialect === "sqlite" ? now() : "";

  /** False once the change is finished or undone, maybe by a unit whose commit was reported as failed. */
  const isUnderWay = async (db: Unit["db"], row: DnsImportRow): Promise<boolean> => (await importOfZone(db, row.zone_id))?.id === row.id;

  /** Undoes a chunk; false if nothing is left. */
  const takeBackSome = async (unit: Unit, row: DnsImportRow): Promise<boolean> => {
    if (!(await isUnderWay(unit.db, row))) return false;
    if (row.kind === "import") {
      const rows = await importedRecords(unit.db, row, CHUNK_CHANGES);
      await putBack(
        unit,
        row,
        rows.map((after) => ({ before: null, after })),
      );
      return rows.length > 0;
    }
    const part = await lastPart(unit.db, row.zone_id, partsKeyOf(row.id));
    if (part === undefined) return false;
    const changes = decodeWholeChanges(part.changes, row.zone_id);
    await putBack(unit, row, changes.slice(-CHUNK_CHANGES));
    const rest = changes.slice(0, -CHUNK_CHANGES);
    if (rest.length === 0) await deletePart(unit.db, row.zone_id, partsKeyOf(row.id), part.part);
    else await putVersionPart(unit.db, row.zone_id, partsKeyOf(row.id), part.part, packWholeChanges(rest));
    return true;
  };

  const takeBack = async (call: Call, row: DnsImportRow): Promise<void> => {
    const { account_id: bulkOf = "" } = (await zoneRowById(store.read, row.zone_id)) ?? {};
    while ((await store.write((unit) => takeBackSome(unit, row), { bulkOf })).result);
    await store.write(async (unit) => {
      if (!(await isUnderWay(unit.db, row))) return;
      const zone = await zoneRowById(unit.db, row.zone_id);
      await removeParts(unit.db, row.zone_id, [partsKeyOf(row.id)], now());
      await endImport(unit.db, row);
      unit.change({ kind: "release", id: row.id, value: null });
      unit.audit(
        auditOf({ call, zone: { id: row.zone_id, account_id: zone?.account_id ?? null }, row }, `dns_record.${row.kind}_undone`, {}),
      );
    });
  };

  return {
    begin: async (call, zone, kind) => {
      const row: DnsImportRow = { zone_id: zone.id, id: newId().slice(0, IMPORT_ID_LENGTH), kind, touched_on: now() };
      await store.write(async ({ db }) => {
        if (!(await beginImport(db, row))) throw new PlatformError("dns_import_under_way");
      });
      return {
        call,
        zone,
        row,
        kind,
        counts: { created: 0, updated: 0, deleted: 0 },
        units: 0,
        pieces: 0,
        parts: 0,
        firstPart: "",
        waiting: [],
      };
    },

    write: async (unit, change, changes) => {
      const { zone, row, kind, counts } = change;
      await assertGoesOn(unit.db, { ...row, touched_on: now() });
      if (changes.length === 0) return;
      await writeRecords(unit.db, zone.id, changes);
      for (const { before, after } of changes) counts[before === null ? "created" : after === null ? "deleted" : "updated"] += 1;
      change.waiting.push(...changes);
      await keepChanges(unit.db, change, kind !== "import");
      const rows = changes.flatMap(({ after }) => (after === null ? [] : [after]));
      const removed = changes.flatMap(({ before, after }) => (after === null && before !== null ? [before.id] : []));
      unit.change({ kind: "staged", id: `${row.id}/${change.pieces++}`, value: stagedEntry(row.id, zone.id, rows, removed) });
      unit.audit(auditOf(change, `dns_record.${kind}_piece`, { records: changes.length }));
    },

    finish: async (unit, change, { reason, refersTo }) => {
      const { call, zone, row, kind, counts } = change;
      await assertGoesOn(unit.db, row);
      const touched = await touchZone(unit, zone.id, 0, 1);
      if (touched === undefined) throw new PlatformError("zone_not_found");
      await keepChanges(unit.db, change, kind === "import");
      const version = {
        zone_id: zone.id,
        version: touched.serial,
        count: touched.dns_version_count,
        created_on: now(),
        actor: call.actor,
        kind,
        refers_to: refersTo,
        reason: reason ?? call.reason ?? null,
      };
      await appendStagedVersion(unit.db, version, { ...counts, changes: change.firstPart, parts_key: partsKeyOf(row.id) });
      await endImport(unit.db, row);
      const records = counts.created + counts.updated + counts.deleted;
      unit.change({ kind: "release", id: row.id, value: { zone_id: zone.id, records } });
      unit.change({ kind: "serial", id: zone.id, value: serialEntry(touched) });
      unit.audit(auditOf(change, `dns_record.${kind}`, { version: touched.serial, records }));
      return touched.serial;
    },

    takeBack,

    touch: async (row) => {
      await store.write(({ db }) => touchImport(db, { ...row, touched_on: now() }));
    },

    removeAbandoned: async (call) => {
      const since = isoMicros(clock.nowMicros() - ABANDONED_MS * 1000);
      const abandoned = await importsUntouchedSince(store.read, since > startedOn ? since : startedOn);
      for (const row of abandoned) await takeBack(call, row);
      return abandoned.length;
    },
  };
}

async function assertGoesOn(db: Unit["db"], row: DnsImportRow): Promise<void> {
  if (await touchImport(db, row)) return;
  if ((await zoneRowById(db, row.zone_id)) === undefined) throw new PlatformError("zone_not_found");
  throw new PlatformError("dns_import_under_way", { message: "The change stalled for too long and was rolled back; try again." });
}

async function putBack(unit: Unit, row: DnsImportRow, changes: readonly VersionedChange<DnsRecordRow>[]): Promise<void> {
  const back = changes.map(({ before, after }) => ({ before: after, after: before }));
  await writeRecords(unit.db, row.zone_id, back);
  await countImported(unit.db, row.zone_id, addedBy(back));
}

/** The change in the number of the zone's records. */
export const addedBy = (changes: readonly VersionedChange[]): number =>
  changes.reduce((sum, { before, after }) => sum + (after ? 1 : 0) - (before ? 1 : 0), 0);

/** Writes the complete parts of the version, and with `last` the incomplete one, which the next chunk completes. */
async function keepChanges(db: Unit["db"], change: LargeChange, last: boolean): Promise<void> {
  const pack = change.kind === "import" ? packChanges : packWholeChanges;
  const put = async (changes: readonly VersionedChange<DnsRecordRow>[]): Promise<void> => {
    const packed = pack(changes);
    if (change.parts === 0) change.firstPart = packed;
    await putVersionPart(db, change.zone.id, partsKeyOf(change.row.id), change.parts, packed);
  };
  for (; change.waiting.length >= CHANGES_PER_ROW; change.parts += 1) await put(change.waiting.splice(0, CHANGES_PER_ROW));
  if (last && change.waiting.length > 0) await put(change.waiting);
}

interface Audited {
  readonly call: Call;
  readonly zone: { readonly id: string; readonly account_id: string | null };
  readonly row: DnsImportRow;
}

const auditOf = ({ call, zone, row }: Audited, action: string, after: object) => ({
  action,
  actor: auditActor(call),
  account_id: zone.account_id,
  zone_id: zone.id,
  resource: { type: "dns_import", id: row.id },
  after,
});
