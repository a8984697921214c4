import type { Call, Reader } from "#control/call.ts";
import type { RecordChanger } from "#control/dns/changes/change-records.ts";
import { type LongReads, releasing, whileWaited } from "#control/long-reads.ts";
import { createChunkBound } from "#control/dns/changes/chunk-bound.ts";
import { AT_ONCE_COST, AT_ONCE_MAX } from "#control/dns/changes/large-change.ts";
import { createImportJobs, type ImportJobs } from "./import-jobs.ts";
import { createChunkedImport, type ChunkedImportDeps, throwRefusal } from "./chunked-import.ts";
import { keepIn, reportOf, skippedLine, noteClamped, noteTruncation, dryRunReport } from "./import-report.ts";
import { newEntries } from "./judge-entries.ts";
import { type ImportEntry, importChunks, type ImportProblem, type ImportContext, readZoneFile, refusal } from "./read-zone-file.ts";
import { writeZoneFile } from "./write-zone-file.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { RecordPolicy } from "#model/dns/prepared-record.ts";
import type { DnsImport, ImportLine, OnError } from "#model/dns/dns-import.ts";
import { serialEntry, zoneEntry } from "#snapshot/compile/zone-entry.ts";
import { zoneFileRows } from "#store/dns/zone-file-rows.ts";
import { zoneRowById } from "#store/zones/zones.ts";

export interface ImportResult {
  readonly recs_added: number;
  readonly total_records_parsed: number;
  /** Lines that were changed or skipped; in a dry run, all lines. */
  readonly report?: readonly ImportLine[];
  /** The job of a large file, which continues without its caller. */
  readonly import?: DnsImport;
}

export interface ImportOptions {
  readonly proxied: boolean;
  /** `clamp` unless given. */
  readonly onError?: OnError;
  /** Do not wait for long operations (RFC 7240 §4.1). */
  readonly respondAsync?: boolean;
}

export interface ZoneFiles {
  /** The zone at one moment, in parts. */
  export(zone: PlannedZoneRef, reader?: Reader): Promise<AsyncIterableIterator<string>>;
  /**
   * Adds the records of a zone file as one version: all or none, unless invalid records are skipped. Ignores records that
   * the zone already has in the same form, and those that the service itself creates. A dry run writes nothing. Throws
   * `dns_zone_file_invalid`, whose chain contains the first lines that cannot be imported.
   */
  import(call: Call, zone: PlannedZoneRef, file: string, options: ImportOptions): Promise<ImportResult>;
  /** Large imports, which continue without their callers. */
  readonly jobs: Pick<ImportJobs, "get" | "list" | "resume">;
  /** Undoes abandoned large changes; returns their number. */
  removeAbandoned(call: Call): Promise<number>;
}

export interface ZoneFilesDeps extends ChunkedImportDeps {
  readonly policy: RecordPolicy;
  readonly changer: RecordChanger;
  readonly longReads: LongReads;
}

/** Limit of a dry run, which keeps the whole file in memory. */
const TRIAL_RECORDS_MAX = 100_000;

export function createZoneFiles(deps: ZoneFilesDeps): ZoneFiles {
  const { store, policy, changer, longReads } = deps;
  const pieces = createChunkedImport(deps);
  const sceneOf = async (zone: PlannedZoneRef, { proxied, onError = "clamp" }: ImportOptions): Promise<ImportContext> => {
    const row = await zoneRowById(store.read, zone.id);
    if (row === undefined) throw new PlatformError("zone_not_found");
    const { multi_provider } = JSON.parse(row.settings) as { readonly multi_provider?: boolean };
    return { zone, policy, proxied, onError, foreignNameServers: multi_provider === true, nameServers: zoneEntry(row).name_servers };
  };

  const jobs = createImportJobs({
    ...deps,
    // The job reads the file again, because it takes a tenth of the memory of its records.
    run: async (call, zone, file, { onChunk, ...options }) => {
      const skipped: ImportProblem[] = [];
      const scene = await sceneOf(zone, options);
      const refuse = scene.onError === "skip" ? keepIn(skipped) : throwRefusal;
      const added = await pieces.import(call, zone, importChunks(file, scene), { onChunk, refuse });
      return { added, report: skipped.map(skippedLine) };
    },
  });

  return {
    export: async (zone, reader) => {
      const place = await longReads.begin(zone.account_id, reader);
      const parts = store.readAt(async (db) => {
        const row = await zoneRowById(db, zone.id);
        if (row === undefined) throw new PlatformError("zone_not_found");
        return writeZoneFile(zoneEntry(row), serialEntry(row).serial, whileWaited(place, zoneFileRows(db, zone.id)));
      });
      return longReads.parts(place, await parts.catch(releasing(place)));
    },

    removeAbandoned: deps.large.removeAbandoned,

    jobs,

    import: async (call, zone, file, options) => {
      const isTrial = call.dry_run === true;
      const scene = await sceneOf(zone, options);
      const { entries, parsed, problems, clamped, ignored } = await readZoneFile(
        file,
        scene,
        isTrial ? createChunkBound(TRIAL_RECORDS_MAX + 1, Infinity) : createChunkBound(AT_ONCE_MAX + 1, AT_ONCE_COST),
      );
      const skips = scene.onError === "skip";
      if (problems.length > 0 && !skips) throw refusal(problems);
      noteClamped(call, clamped);
      const lines = reportOf(clamped, problems);
      if (entries === null) {
        if (isTrial) throw new PlatformError("dns_zone_file_invalid", { message: `A dry run takes up to ${TRIAL_RECORDS_MAX} records.` });
        const { proxied, respondAsync = false } = options;
        const job = await jobs.submit(call, zone, file, { proxied, onError: scene.onError, total: parsed, report: lines });
        if (respondAsync) return { recs_added: 0, total_records_parsed: parsed, import: job };
        const recs_added = await jobs.finished(job.id);
        return { recs_added, total_records_parsed: parsed, import: await jobs.get(zone, job.id) };
      }
      const skipped: ImportProblem[] = [];
      const added = await newEntries(store.read, zone, entries, {
        recordsMax: deps.recordsPerZoneMax(zone.plan),
        refuse: skips ? keepIn(skipped) : throwRefusal,
      });
      const counts = { recs_added: added.length, total_records_parsed: parsed };
      if (isTrial)
        return { ...counts, report: noteTruncation(call, dryRunReport({ entries, added, ignored, problems: [...problems, ...skipped] })) };
      if (added.length > 0) {
        const prepared = added.map(({ record }) => record);
        await changer.change(call, zone, { prepared }, { kind: "import" }).catch((error: unknown) => {
          throw withLine(error, added);
        });
      }
      const report = noteTruncation(call, reportOf(clamped, [...problems, ...skipped]));
      return report.length === 0 ? counts : { ...counts, report };
    },
  };
}

/** Replaces the record's position in an error by its line, which the author of the file knows. */
function withLine(error: unknown, entries: readonly ImportEntry[]): unknown {
  if (!(error instanceof PlatformError)) return error;
  const position = /^\/posts\/(\d+)/.exec(error.source ?? "")?.[1];
  const line = entries[Number(position)]?.line;
  return line === undefined ? error : refusal([{ line, error }]);
}
