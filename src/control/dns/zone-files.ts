import type { Call } from "#control/call.ts";
import type { RecordChanger, ZoneRef } from "#control/dns/change-records.ts";
import { entryKey, type ImportEntry, type ImportProblem, type ImportScene, readZoneFile } from "#control/dns/read-zone-file.ts";
import { writeZoneFile } from "#control/dns/write-zone-file.ts";
import { type ErrorItem, PlatformError } from "#kernel/errors.ts";
import { identityOf } from "#model/dns-conflicts.ts";
import type { OriginPolicy } from "#model/prepared-record.ts";
import { zoneEntry } from "#snapshot/compile.ts";
import { recordsNamed } from "#store/dns-record-rows.ts";
import type { Store } from "#store/store.ts";
import { zoneFileRows } from "#store/zone-file-rows.ts";
import { zoneRowById } from "#store/zones.ts";

export interface ImportResult {
  readonly recs_added: number;
  readonly total_records_parsed: number;
}

export interface ZoneFiles {
  /** The zone as it was at one moment. */
  export(zone: ZoneRef): Promise<string>;
  /**
   * Adds the records of a zone file, all or none, as one version. What the zone has already in the same form, and
   * what the service makes itself, is left as it is. Throws `dns_zone_file_invalid`, whose chain has the first
   * lines that cannot be imported.
   */
  import(call: Call, zone: ZoneRef, file: string, options: { readonly proxied: boolean }): Promise<ImportResult>;
}

export interface ZoneFilesDeps {
  readonly store: Store;
  readonly origins: OriginPolicy;
  readonly changer: RecordChanger;
}

export function createZoneFiles({ store, origins, changer }: ZoneFilesDeps): ZoneFiles {
  const sceneOf = async (zone: ZoneRef, proxied: boolean): Promise<ImportScene> => {
    const row = await zoneRowById(store.read, zone.id);
    if (row === undefined) throw new PlatformError("zone_not_found");
    const { multi_provider } = JSON.parse(row.settings) as { readonly multi_provider?: boolean };
    return { zone, origins, proxied, foreignNameServers: multi_provider === true, nameServers: zoneEntry(row).name_servers };
  };

  /** Those that the zone does not have. */
  const missing = async (zone: ZoneRef, entries: readonly ImportEntry[]): Promise<readonly ImportEntry[]> => {
    const names = [...new Set(entries.map(({ record }) => record.name))];
    const existing = await recordsNamed(store.read, zone.id, names);
    const keys = new Set(existing.map((row) => entryKey(row.name, identityOf(row))));
    return entries.filter(({ key }) => !keys.has(key));
  };

  return {
    export: (zone) =>
      store.readAt(async (db) => {
        const row = await zoneRowById(db, zone.id);
        if (row === undefined) throw new PlatformError("zone_not_found");
        return writeZoneFile(zoneEntry(row), row.serial, zoneFileRows(db, zone.id));
      }),

    import: async (call, zone, file, { proxied }) => {
      const { entries, parsed, problems } = await readZoneFile(file, await sceneOf(zone, proxied));
      if (problems.length > 0) throw refusal(problems);
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

function refusal(problems: readonly ImportProblem[]): PlatformError {
  const sorted = problems.toSorted((a, b) => a.line - b.line);
  const chain = sorted.map(({ line, error }): ErrorItem => ({ code: error.code, message: `Line ${line}: ${error.message}` }));
  const more = chain.length === 1 ? "" : ` ${chain.length - 1} more cannot be imported either; error_chain names them.`;
  return new PlatformError("dns_zone_file_invalid", { message: `${chain[0]?.message}${more}`, chain });
}

/** An error of the change names the record by its position, the file's author knows it by its line. */
function withLine(error: unknown, entries: readonly ImportEntry[]): unknown {
  if (!(error instanceof PlatformError)) return error;
  const position = /^\/posts\/(\d+)/.exec(error.source ?? "")?.[1];
  const line = entries[Number(position)]?.line;
  return line === undefined ? error : refusal([{ line, error }]);
}
