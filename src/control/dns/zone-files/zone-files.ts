import type { Call } from "#control/call.ts";
import type { RecordChanger } from "#control/dns/changes/change-records.ts";
import { AT_ONCE_MAX, PIECE_CHANGES } from "#control/dns/changes/large-change.ts";
import { createImportJobs, type ImportJobs } from "./import-jobs.ts";
import { createPieceImport, type PieceImportDeps } from "./chunked-import.ts";
import { entryKey, type ImportEntry, importPieces, type ImportScene, readZoneFile, refusal } from "./read-zone-file.ts";
import { writeZoneFile } from "./write-zone-file.ts";
import type { PlannedZoneRef } from "#control/zones/zone-ref.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { identityOf } from "#model/dns/dns-conflicts.ts";
import type { RecordPolicy } from "#model/dns/prepared-record.ts";
import type { DnsImport } from "#model/dns/dns-import.ts";
import { serialEntry, zoneEntry } from "#snapshot/compile.ts";
import { recordsNamed } from "#store/dns/dns-record-rows.ts";
import { zoneFileRows } from "#store/dns/zone-file-rows.ts";
import { zoneRowById } from "#store/zones/zones.ts";

export interface ImportResult {
  readonly recs_added: number;
  readonly total_records_parsed: number;
  /** Of a large file: it goes on, or went on, without its caller. */
  readonly import?: DnsImport;
}

export interface ImportOptions {
  readonly proxied: boolean;
  /** Not to wait for what takes long (RFC 7240 §4.1). */
  readonly respondAsync?: boolean;
}

export interface ZoneFiles {
  /** The zone as it was at one moment. */
  export(zone: PlannedZoneRef): Promise<string>;
  /**
   * Adds the records of a zone file, all or none, as one version. What the zone has already in the same form, and
   * what the service makes itself, is left as it is. Throws `dns_zone_file_invalid`, whose chain has the first
   * lines that cannot be imported.
   */
  import(call: Call, zone: PlannedZoneRef, file: string, options: ImportOptions): Promise<ImportResult>;
  /** Large imports, which go on without their callers. */
  readonly jobs: Pick<ImportJobs, "get" | "list" | "resume">;
  /** Undoes large changes that nobody goes on with, since what did it has ended; how many there were. */
  removeAbandoned(call: Call): Promise<number>;
}

export interface ZoneFilesDeps extends PieceImportDeps {
  readonly policy: RecordPolicy;
  readonly changer: RecordChanger;
}

export function createZoneFiles(deps: ZoneFilesDeps): ZoneFiles {
  const { store, policy, changer } = deps;
  const pieces = createPieceImport(deps);
  const sceneOf = async (zone: PlannedZoneRef, proxied: boolean): Promise<ImportScene> => {
    const row = await zoneRowById(store.read, zone.id);
    if (row === undefined) throw new PlatformError("zone_not_found");
    const { multi_provider } = JSON.parse(row.settings) as { readonly multi_provider?: boolean };
    return { zone, policy, proxied, foreignNameServers: multi_provider === true, nameServers: zoneEntry(row).name_servers };
  };

  /** Those that the zone does not have. */
  const missing = async (zone: PlannedZoneRef, entries: readonly ImportEntry[]): Promise<readonly ImportEntry[]> => {
    const names = [...new Set(entries.map(({ record }) => record.name))];
    const existing = await recordsNamed(store.read, zone.id, names);
    const keys = new Set(existing.map((row) => entryKey(row.name, identityOf(row))));
    return entries.filter(({ key }) => !keys.has(key));
  };

  const jobs = createImportJobs({
    ...deps,
    // Read again rather than kept: the file takes a tenth of the room that its records do.
    run: async (call, zone, file, options) =>
      pieces.import(call, zone, importPieces(file, await sceneOf(zone, options.proxied), PIECE_CHANGES), options.onPiece),
  });

  return {
    export: (zone) =>
      store.readAt(async (db) => {
        const row = await zoneRowById(db, zone.id);
        if (row === undefined) throw new PlatformError("zone_not_found");
        return writeZoneFile(zoneEntry(row), serialEntry(row).serial, zoneFileRows(db, zone.id));
      }),

    removeAbandoned: deps.large.removeAbandoned,

    jobs,

    import: async (call, zone, file, { proxied, respondAsync = false }) => {
      const scene = await sceneOf(zone, proxied);
      const { entries, parsed, problems } = await readZoneFile(file, scene, AT_ONCE_MAX);
      if (problems.length > 0) throw refusal(problems);
      if (entries === null) {
        const job = await jobs.submit(call, zone, file, { proxied, total: parsed });
        if (respondAsync) return { recs_added: 0, total_records_parsed: parsed, import: job };
        const recs_added = await jobs.finished(job.id);
        return { recs_added, total_records_parsed: parsed, import: await jobs.get(zone, job.id) };
      }
      const added = await missing(zone, entries);
      if (added.length > 0) {
        const prepared = added.map(({ record }) => record);
        await changer.change(call, zone, { prepared }, { kind: "import" }).catch((error: unknown) => {
          throw withLine(error, added);
        });
      }
      return { recs_added: added.length, total_records_parsed: parsed };
    },
  };
}

/** An error of the change names the record by its position, the file's author knows it by its line. */
function withLine(error: unknown, entries: readonly ImportEntry[]): unknown {
  if (!(error instanceof PlatformError)) return error;
  const position = /^\/posts\/(\d+)/.exec(error.source ?? "")?.[1];
  const line = entries[Number(position)]?.line;
  return line === undefined ? error : refusal([{ line, error }]);
}
