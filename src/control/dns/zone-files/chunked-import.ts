import { isoMicros, type Clock } from "#kernel/clock.ts";
import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { createdRow } from "#control/dns/changes/change-steps.ts";
import type { LargeChange, LargeChanges } from "#control/dns/changes/large-change.ts";
import { largeStep } from "#control/dns/changes/large-step.ts";
import { newEntries, type Refuse } from "./judge-entries.ts";
import { type ImportEntry, type ImportProblem, refusal } from "./read-zone-file.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { importedRecordId } from "#store/dns/dns-imports.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { countImported } from "#store/zones/zones.ts";

/** Imports in chunks (large-change.ts). */
export interface ChunkedImport {
  /**
   * Returns the number of records that were new to the zone. `onChunk` receives the number of processed records. Throws
   * `dns_zone_file_invalid`, `dns_import_under_way`.
   */
  import(call: Call, zone: PlannedZoneRef, pieces: AsyncIterable<readonly ImportEntry[]>, options?: ChunkedImportOptions): Promise<number>;
}

export interface ChunkedImportOptions {
  readonly onChunk?: (unit: Unit, records: number) => Promise<void>;
  /** Receives records that cannot be imported; absent: these are errors. */
  readonly refuse?: Refuse;
}

export interface ChunkedImportDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly large: LargeChanges;
  /** Limit of records per zone of the plan. */
  recordsPerZoneMax(plan: string): number;
}

export function createChunkedImport(deps: ChunkedImportDeps): ChunkedImport {
  const { clock, large } = deps;

  /** Throws the error of `refusal` if a record conflicts with others. */
  const writePiece = async (unit: Unit, change: LargeChange, entries: readonly ImportEntry[], refuse: Refuse): Promise<void> => {
    const { zone, row, counts } = change;
    const fresh = await newEntries(unit.db, zone, entries, { recordsMax: deps.recordsPerZoneMax(zone.plan), refuse });
    const written = isoMicros(clock.nowMicros());
    const rows = fresh.map(({ record }, i) => createdRow(importedRecordId(row.id, counts.created + i), record, zone.id, written));
    await countImported(unit.db, zone.id, rows.length);
    await large.write(
      unit,
      change,
      rows.map((after) => ({ before: null, after })),
    );
  };

  return {
    import: async (call, zone, pieces, { onChunk, refuse = throwRefusal } = {}) => {
      const change = await large.begin(call, zone, "import");
      let seen = 0;
      try {
        for await (const entries of pieces) {
          seen += entries.length;
          const { result: refused } = await largeStep(deps.store, change, async (unit, draft) => {
            const problems: ImportProblem[] = [];
            await writePiece(unit, draft, entries, refuse === throwRefusal ? throwRefusal : (problem) => problems.push(problem));
            await onChunk?.(unit, seen);
            return problems;
          });
          refused.forEach(refuse);
        }
        if (change.counts.created > 0) await commit(deps, call, (unit) => large.finish(unit, change, { reason: null, refersTo: null }));
        else await large.takeBack(call, change.row);
        return change.counts.created;
      } catch (error) {
        // If this fails too, `removeAbandoned` repeats it later.
        await large.takeBack(call, change.row).catch(() => {});
        throw error;
      }
    },
  };
}

export const throwRefusal: Refuse = (problem) => {
  throw refusal([problem]);
};
