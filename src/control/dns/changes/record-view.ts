import type { DnsRecord, DnsRecordWrite } from "#model/dns/dns-record.ts";
import { tunnelIdOf } from "#kernel/net/tunnel-name.ts";
import { isProxiable, type OriginPolicy, TTL_AUTOMATIC } from "#model/dns/prepared-record.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";

/** The columns that define a record; the others are derived from them. */
export type RecordContentRow = Omit<DnsRecordRow, "zone_id" | "content_key" | "rdata">;

export type RecordView = (row: RecordContentRow) => DnsRecord;

/** Converts a record's row to a response (SPEC 2.2). */
export function createRecordView(deps: { readonly origins: OriginPolicy; readonly vendorPrefix: string }): RecordView {
  const metaOf = (leadsToTunnel: boolean): DnsRecord["meta"] => ({
    auto_added: false,
    managed_by_apps: false,
    [`managed_by_${deps.vendorPrefix}_tunnel`]: leadsToTunnel,
    source: "primary",
  });
  const meta = metaOf(false);
  const tunnelMeta = metaOf(true);
  return (row) => ({
    id: row.id,
    name: row.name,
    type: row.type,
    content: row.content,
    proxiable: isProxiable(row.type, row.content, deps.origins),
    proxied: row.proxied === 1,
    // For secondary zones, the row keeps the primary's TTL.
    ttl: row.proxied === 1 ? TTL_AUTOMATIC : row.ttl,
    ...(row.priority === null ? {} : { priority: row.priority }),
    ...(row.data === null ? {} : { data: JSON.parse(row.data) as Record<string, unknown> }),
    settings: JSON.parse(row.settings) as DnsRecord["settings"],
    meta: row.type === "CNAME" && tunnelIdOf(row.content.toLowerCase()) !== undefined ? tunnelMeta : meta,
    comment: row.comment,
    tags: JSON.parse(row.tags) as string[],
    created_on: row.created_on,
    modified_on: row.modified_on,
    ...(row.comment_modified_on === null ? {} : { comment_modified_on: row.comment_modified_on }),
    ...(row.tags_modified_on === null ? {} : { tags_modified_on: row.tags_modified_on }),
  });
}

/**
 * The write that would create the record, as a base for `body`. Omits its content if the body has the other form: `data`
 * if there is new content, and content if there is new data.
 */
export function writeOf(row: RecordContentRow, body: DnsRecordWrite): DnsRecordWrite {
  const newType = body.type !== undefined && body.type.toUpperCase() !== row.type;
  const keptData = newType || (body.content ?? null) !== null ? null : row.data;
  return {
    type: row.type,
    name: row.name,
    content: row.content,
    ...(keptData === null ? {} : { data: JSON.parse(keptData) as Record<string, unknown> }),
    // A proxied record has no individual TTL to check.
    ttl: row.proxied === 1 || body.proxied === true ? TTL_AUTOMATIC : row.ttl,
    proxied: row.proxied === 1 && !newType,
    priority: row.priority,
    comment: row.comment,
    tags: JSON.parse(row.tags) as string[],
    settings: JSON.parse(row.settings) as NonNullable<DnsRecordWrite["settings"]>,
  };
}
