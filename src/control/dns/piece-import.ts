import { isoMicros, type Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors.ts";
import { newId } from "#kernel/ids.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { createdRow } from "#control/dns/change-steps.ts";
import { entryKey, type ImportEntry, refusal } from "#control/dns/read-zone-file.ts";
import { permittedSteps } from "#control/dns/secondary-writes.ts";
import { packChanges } from "#control/dns/version-changes.ts";
import { appendStagedVersion } from "#control/dns/version-log.ts";
import type { PlannedZoneRef } from "#control/zones/zone-ref.ts";
import { checkSiblings, identityOf, type Sibling } from "#model/dns-conflicts.ts";
import { serialEntry, stagedEntry } from "#snapshot/compile.ts";
import {
  beginImport,
  type DnsImportRow,
  endImport,
  IMPORT_ID_LENGTH,
  importedRecordId,
  importedRecords,
  importsUntouchedSince,
  touchImport,
} from "#store/dns-imports.ts";
import { recordsNamed, writeRecords } from "#store/dns-record-rows.ts";
import type { DnsRecordRow } from "#store/dns-records.ts";
import { CHANGES_PER_ROW, deleteStagedParts, insertVersionPart, STAGED_VERSION } from "#store/dns-versions.ts";
import type { Store, Unit } from "#store/store.ts";
import { countImported, touchZone, zoneRowById } from "#store/zones.ts";

/**
 * Imports that would hold up every other write if they were one unit of work. Rows, changes of the version and what
 * the planes need are written piece by piece; the last unit makes them a version and has the planes release them,
 * so that the zone's answers, its serial and its history know all of it or nothing. Lists of records show the rows
 * as they come. Where a piece cannot be imported, or the program ends, what was written is taken back.
 */
export interface PieceImport {
  /** How many records were new to the zone. Throws `dns_zone_file_invalid`, `dns_import_under_way`. */
  import(call: Call, zone: PlannedZoneRef, pieces: AsyncIterable<readonly ImportEntry[]>): Promise<number>;
  removeAbandoned(call: Call): Promise<number>;
}

export interface PieceImportDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Records that one zone of the plan may have. */
  recordsPerZoneMax(plan: string): number;
}

/** A piece takes a fraction of a second; whoever has written none for so long, on whichever node, has ended. */
const ABANDONED_MS = 60_000;
/** Rows that one unit takes back. */
const TAKEN_BACK_AT_ONCE = 500;

/** One import from its first piece to its last. */
interface Progress {
  readonly call: Call;
  readonly zone: PlannedZoneRef;
  readonly row: DnsImportRow;
  pieces: number;
  records: number;
  /** Parts of the version so far; the first is kept for the version's own row. */
  parts: number;
  firstPart: string;
  /** Rows that do not fill a part yet. */
  waiting: DnsRecordRow[];
}

export function createPieceImport(deps: PieceImportDeps): PieceImport {
  const { store, clock } = deps;
  const now = (): string => isoMicros(clock.nowMicros());
  /** A file has one program at a time: what was under way before this one started has ended with its own. */
  const startedOn = store.dialect === "sqlite" ? now() : "";

  const begin = async (call: Call, zone: PlannedZoneRef): Promise<Progress> => {
    const row: DnsImportRow = { zone_id: zone.id, id: newId().slice(0, IMPORT_ID_LENGTH), touched_on: now() };
    await store.write(async ({ db }) => {
      if (!(await beginImport(db, row))) throw new PlatformError("dns_import_under_way");
    });
    return { call, zone, row, pieces: 0, records: 0, parts: 0, firstPart: "", waiting: [] };
  };

  /** Throws where a record cannot stand beside the others, as `refusal` says it. */
  const writePiece = async (unit: Unit, progress: Progress, entries: readonly ImportEntry[]): Promise<void> => {
    const { zone, row } = progress;
    await assertGoesOn(unit.db, { ...row, touched_on: now() });
    const fresh = await judge(unit.db, progress, entries);
    if (fresh.length === 0) return;
    const written = now();
    const rows = fresh.map(({ record }, i) => createdRow(importedRecordId(row.id, progress.records + i), record, zone.id, written));
    await assertPermitted(unit.db, zone, rows);
    const count = (await countImported(unit.db, zone.id, rows.length)) ?? 0;
    const room = rows.length - (count - deps.recordsPerZoneMax(zone.plan));
    if (room < rows.length) throw refusal([{ line: (fresh[room] ?? fresh[0])!.line, error: new PlatformError("dns_quota") }]);
    await writeRecords(
      unit.db,
      zone.id,
      rows.map((after) => ({ before: null, after })),
    );
    progress.records += rows.length;
    progress.waiting.push(...rows);
    await keepChanges(unit.db, progress, false);
    unit.change({ kind: "staged", id: `${row.id}/${progress.pieces++}`, value: stagedEntry(row.id, zone.id, rows) });
    unit.audit(auditOf(progress, "dns_record.import_piece", { records: rows.length }));
  };

  const finish = async (unit: Unit, progress: Progress): Promise<void> => {
    const { call, zone, row, records } = progress;
    await assertGoesOn(unit.db, row);
    const touched = await touchZone(unit, zone.id, 0, 1);
    if (touched === undefined) throw new PlatformError("zone_not_found");
    await keepChanges(unit.db, progress, true);
    const version = {
      zone_id: zone.id,
      version: touched.serial,
      count: touched.dns_version_count,
      created_on: now(),
      actor: call.actor,
      kind: "import",
      refers_to: null,
      reason: call.reason ?? null,
    } as const;
    await appendStagedVersion(unit.db, version, records, progress.firstPart);
    await endImport(unit.db, row);
    unit.change({ kind: "release", id: row.id, value: { zone_id: zone.id, records } });
    unit.change({ kind: "serial", id: zone.id, value: serialEntry(touched) });
    unit.audit(auditOf(progress, "dns_record.import", { version: touched.serial, records }));
  };

  const takeBack = async (call: Call, row: DnsImportRow): Promise<void> => {
    const some = (unit: Unit): Promise<boolean> => deleteSome(unit.db, row);
    while ((await store.write(some)).result);
    await store.write(async (unit) => {
      const zone = await zoneRowById(unit.db, row.zone_id);
      if (zone) await deleteStagedParts(unit.db, row.zone_id);
      await endImport(unit.db, row);
      unit.change({ kind: "release", id: row.id, value: null });
      unit.audit(auditOf({ call, zone: { id: row.zone_id, account_id: zone?.account_id ?? null }, row }, "dns_record.import_undone", {}));
    });
  };

  return {
    import: async (call, zone, pieces) => {
      const progress = await begin(call, zone);
      try {
        for await (const entries of pieces) await store.write((unit) => writePiece(unit, progress, entries));
        if (progress.records > 0) await commit(deps, call, (unit) => finish(unit, progress));
        else await takeBack(call, progress.row);
        return progress.records;
      } catch (error) {
        // Where this fails too, `removeAbandoned` does it later.
        await takeBack(call, progress.row).catch(() => {});
        throw error;
      }
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
  throw new PlatformError("dns_import_under_way", { message: "The import paused for too long and was undone; try again." });
}

/** Those of the records that the zone does not have yet, after the rows that the pieces before have written. */
async function judge(db: Unit["db"], { zone }: Progress, entries: readonly ImportEntry[]): Promise<readonly ImportEntry[]> {
  const names = [...new Set(entries.map(({ record }) => record.name))];
  const byName = new Map<string, Sibling[]>(names.map((name) => [name, []]));
  const known = new Set<string>();
  for (const row of await recordsNamed(db, zone.id, names)) {
    byName.get(row.name)?.push(row);
    known.add(entryKey(row.name, identityOf(row)));
  }
  const fresh: ImportEntry[] = [];
  for (const entry of entries) {
    const { key, line, record } = entry;
    if (known.has(key)) continue;
    const siblings = byName.get(record.name) ?? [];
    try {
      checkSiblings(record, siblings, zone.name);
    } catch (error) {
      throw error instanceof PlatformError ? refusal([{ line, error }]) : error;
    }
    siblings.push({ id: "", ...record });
    known.add(key);
    fresh.push(entry);
  }
  return fresh;
}

/** The records of a secondary zone are its primary's. */
async function assertPermitted(db: Unit["db"], zone: PlannedZoneRef, rows: readonly DnsRecordRow[]): Promise<void> {
  const row = await zoneRowById(db, zone.id);
  if (row === undefined) throw new PlatformError("zone_not_found");
  permittedSteps(
    row,
    rows.map((place, index) => ({ part: "posts", index, remove: null, place, error: null })),
  );
}

/** Writes the parts of the version that are full, at last also the one that is not. */
async function keepChanges(db: Unit["db"], progress: Progress, last: boolean): Promise<void> {
  while (progress.waiting.length >= CHANGES_PER_ROW || (last && progress.waiting.length > 0)) {
    const packed = packChanges(progress.waiting.splice(0, CHANGES_PER_ROW).map((after) => ({ before: null, after })));
    if (progress.parts === 0) progress.firstPart = packed;
    else await insertVersionPart(db, progress.zone.id, STAGED_VERSION, progress.parts, packed);
    progress.parts += 1;
  }
}

/** False where none is left. */
async function deleteSome(db: Unit["db"], row: DnsImportRow): Promise<boolean> {
  const rows = await importedRecords(db, row, TAKEN_BACK_AT_ONCE);
  if (rows.length === 0) return false;
  await writeRecords(
    db,
    row.zone_id,
    rows.map((before) => ({ before, after: null })),
  );
  await countImported(db, row.zone_id, -rows.length);
  return true;
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
