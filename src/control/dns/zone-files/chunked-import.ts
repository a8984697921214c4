import { isoMicros, type Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { createdRow } from "#control/dns/changes/change-steps.ts";
import type { LargeChange, LargeChanges } from "#control/dns/changes/large-change.ts";
import { entryKey, type ImportEntry, refusal } from "./read-zone-file.ts";
import { permittedSteps } from "#control/dns/changes/secondary-restrictions.ts";
import type { PlannedZoneRef } from "#control/zones/zone-ref.ts";
import { checkSiblings, identityOf, type Sibling } from "#model/dns/dns-conflicts.ts";
import { importedRecordId } from "#store/dns/dns-imports.ts";
import { recordsNamed } from "#store/dns/dns-record-rows.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { countImported, zoneRowById } from "#store/zones/zones.ts";

/** Imports in pieces (large-change.ts). */
export interface PieceImport {
  /**
   * How many records were new to the zone. `onPiece` hears how many of the file's have been gone through. Throws
   * `dns_zone_file_invalid`, `dns_import_under_way`.
   */
  import(
    call: Call,
    zone: PlannedZoneRef,
    pieces: AsyncIterable<readonly ImportEntry[]>,
    onPiece?: (unit: Unit, records: number) => Promise<void>,
  ): Promise<number>;
}

export interface PieceImportDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly large: LargeChanges;
  /** Records that one zone of the plan may have. */
  recordsPerZoneMax(plan: string): number;
}

export function createPieceImport(deps: PieceImportDeps): PieceImport {
  const { store, clock, large } = deps;

  /** Throws where a record cannot stand beside the others, as `refusal` says it. */
  const writePiece = async (unit: Unit, change: LargeChange, entries: readonly ImportEntry[]): Promise<void> => {
    const { zone, row, counts } = change;
    const fresh = await judge(unit.db, zone, entries);
    const written = isoMicros(clock.nowMicros());
    const rows = fresh.map(({ record }, i) => createdRow(importedRecordId(row.id, counts.created + i), record, zone.id, written));
    await assertPermitted(unit.db, zone, rows);
    const count = (await countImported(unit.db, zone.id, rows.length)) ?? 0;
    const room = rows.length - (count - deps.recordsPerZoneMax(zone.plan));
    if (room < rows.length) throw refusal([{ line: (fresh[room] ?? fresh[0])!.line, error: new PlatformError("dns_quota") }]);
    await large.write(
      unit,
      change,
      rows.map((after) => ({ before: null, after })),
    );
  };

  return {
    import: async (call, zone, pieces, onPiece) => {
      const change = await large.begin(call, zone, "import");
      let seen = 0;
      try {
        for await (const entries of pieces) {
          seen += entries.length;
          await store.write(async (unit) => {
            await writePiece(unit, change, entries);
            await onPiece?.(unit, seen);
          });
        }
        if (change.counts.created > 0) await commit(deps, call, (unit) => large.finish(unit, change, { reason: null, refersTo: null }));
        else await large.takeBack(call, change.row);
        return change.counts.created;
      } catch (error) {
        // Where this fails too, `removeAbandoned` does it later.
        await large.takeBack(call, change.row).catch(() => {});
        throw error;
      }
    },
  };
}

/** Those of the records that the zone does not have yet, after the rows that the pieces before have written. */
async function judge(db: Unit["db"], zone: PlannedZoneRef, entries: readonly ImportEntry[]): Promise<readonly ImportEntry[]> {
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
