import { Type } from "typebox";
import { type Resolved, type Route, route } from "#api/route.ts";
import type { ZoneRef } from "#control/dns/change-records.ts";
import { PlatformError } from "#kernel/errors.ts";
import { DnsRecord, DnsRecordBatch, DnsRecordBatchResult, DnsRecordQuery, DnsRecordUsage, DnsRecordWrite } from "#model/dns-record.ts";

const COLLECTION = "/zones/:zone_id/dns_records";
const ITEM = "/zones/:zone_id/dns_records/:dns_record_id";

/** Routes of scope `zone` are called with the zone resolved. */
function zoneOf(resolved: Resolved): ZoneRef {
  if (resolved.zone === null) throw new PlatformError("zone_not_found");
  return resolved.zone;
}

export const DNS_RECORD_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: COLLECTION,
    id: "dns-records-list",
    summary: "List DNS records",
    scope: "zone",
    permissions: ["DNS Read", "DNS Write"],
    query: DnsRecordQuery,
    result: DnsRecord,
    paging: "page",
    per_page: { default: 100, max: 5_000_000 },
    handler: ({ control, resolved, query, page }) => control.dnsRecords.list(zoneOf(resolved), query, page),
  }),
  route({
    method: "POST",
    path: COLLECTION,
    id: "dns-records-create",
    summary: "Create a DNS record",
    scope: "zone",
    permissions: ["DNS Write"],
    body: DnsRecordWrite,
    result: DnsRecord,
    paging: "one",
    handler: ({ control, call, resolved, body }) => control.dnsRecords.create(call, zoneOf(resolved), body),
  }),
  route({
    method: "POST",
    path: `${COLLECTION}/batch`,
    id: "dns-records-batch",
    summary: "Delete, edit, overwrite and create DNS records, all or none",
    scope: "zone",
    permissions: ["DNS Write"],
    body: DnsRecordBatch,
    result: DnsRecordBatchResult,
    paging: "one",
    handler: ({ control, call, resolved, body }) => control.dnsRecords.batch(call, zoneOf(resolved), body),
  }),
  route({
    method: "GET",
    path: `${COLLECTION}/usage`,
    id: "dns-records-usage",
    summary: "Show how many DNS records the zone has and may have",
    scope: "zone",
    permissions: ["DNS Read", "DNS Write"],
    result: DnsRecordUsage,
    paging: "one",
    handler: ({ control, resolved }) => control.dnsRecords.usage(zoneOf(resolved)),
  }),
  route({
    method: "GET",
    path: ITEM,
    id: "dns-records-get",
    summary: "Show a DNS record",
    scope: "zone",
    permissions: ["DNS Read", "DNS Write"],
    result: DnsRecord,
    paging: "one",
    handler: ({ control, resolved, params }) => control.dnsRecords.get(zoneOf(resolved), params.dns_record_id),
  }),
  route({
    method: "PATCH",
    path: ITEM,
    id: "dns-records-edit",
    summary: "Edit a DNS record",
    scope: "zone",
    permissions: ["DNS Write"],
    body: DnsRecordWrite,
    result: DnsRecord,
    paging: "one",
    handler: ({ control, call, resolved, params, body }) => control.dnsRecords.edit(call, zoneOf(resolved), params.dns_record_id, body),
  }),
  route({
    method: "PUT",
    path: ITEM,
    id: "dns-records-overwrite",
    summary: "Overwrite a DNS record",
    scope: "zone",
    permissions: ["DNS Write"],
    body: DnsRecordWrite,
    result: DnsRecord,
    paging: "one",
    handler: ({ control, call, resolved, params, body }) =>
      control.dnsRecords.overwrite(call, zoneOf(resolved), params.dns_record_id, body),
  }),
  route({
    method: "DELETE",
    path: ITEM,
    id: "dns-records-delete",
    summary: "Delete a DNS record",
    scope: "zone",
    permissions: ["DNS Write"],
    result: Type.Object({ id: Type.String() }),
    paging: "one",
    handler: ({ control, call, resolved, params }) => control.dnsRecords.delete(call, zoneOf(resolved), params.dns_record_id),
  }),
];
