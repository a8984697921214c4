import { ERROR_CODES } from "#kernel/error-codes.ts";
import type { ZoneFileRecord } from "#wire/dns/zonefile.ts";
import { type ApiClient, ApiFailure } from "./api-client.ts";

export interface LineFailure {
  readonly line: number;
  readonly message: string;
}

/** Creates one record of a zone file; what the zone has in the same form already is skipped. */
export async function importRecord(
  api: ApiClient,
  zone: { readonly id: string; readonly name: string },
  record: ZoneFileRecord,
): Promise<"created" | "skipped" | LineFailure> {
  if (isOwnRecord(record, zone.name)) return "skipped";
  const path = `/zones/${zone.id}/dns_records`;
  try {
    await api.call("POST", path, recordBody(record));
    return "created";
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    if (error.has(ERROR_CODES.dns_record_exists.code)) return "skipped";
    // A name has one CNAME only, so that a second one is refused as a second one even where it is the same.
    const isSecondCname = record.type === "CNAME" && error.has(ERROR_CODES.dns_host_exists.code, ERROR_CODES.dns_cname_exists.code);
    if (isSecondCname && (await isThere(api, path, record))) return "skipped";
    return { line: record.line, message: `${record.name} ${record.type}: ${error.message}` };
  }
}

/** SPEC 2.3: SOA and the apex's NS are the service's own. */
const isOwnRecord = ({ name, type }: ZoneFileRecord, zoneName: string): boolean =>
  type === "SOA" || (type === "NS" && name.toLowerCase() === zoneName);

async function isThere(api: ApiClient, path: string, { name, type, content }: ZoneFileRecord): Promise<boolean> {
  const found = (await api.call("GET", `${path}?${new URLSearchParams({ "name.exact": name, type })}`)) as readonly {
    readonly content: string;
  }[];
  return found.some((record) => record.content.toLowerCase() === content.toLowerCase());
}

/** The record as the API takes it: structured types by `data`, the others by `content`; 1 is the automatic TTL. */
const recordBody = ({ name, type, ttl, content, data, priority }: ZoneFileRecord): object => ({
  name,
  type,
  ttl: ttl ?? 1,
  ...(data === null ? { content } : { data }),
  ...(priority === null ? {} : { priority }),
});
