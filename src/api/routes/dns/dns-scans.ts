import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { DnsRecord } from "#model/dns/dns-record.ts";
import { DnsScanResult, DnsScanReview, DnsScanReviewResult } from "#model/dns/dns-scan.ts";

const SCAN = "/zones/:zone_id/dns_records/scan";
const WRITE = ["DNS Write"] as const;

export const DNS_SCAN_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: SCAN,
    id: "dns-records-scan",
    summary: "Scan for the zone's existing DNS records and add them without a review",
    scope: "zone",
    permissions: WRITE,
    result: DnsScanResult,
    paging: "one",
    handler: ({ control, call, resolved }) => control.recordScans.add(call, zoneOf(resolved)),
  }),
  route({
    method: "POST",
    path: `${SCAN}/trigger`,
    id: "dns-records-scan-trigger",
    summary: "Scan for the zone's existing DNS records and store them for review",
    scope: "zone",
    permissions: WRITE,
    result: Type.Null(),
    paging: "one",
    handler: async ({ control, resolved }) => {
      await control.recordScans.trigger(zoneOf(resolved));
      return null;
    },
  }),
  route({
    method: "GET",
    path: `${SCAN}/review`,
    id: "dns-records-scan-list",
    summary: "List DNS records that a scan found and that await review",
    scope: "zone",
    permissions: ["DNS Read", "DNS Write"],
    result: DnsRecord,
    paging: "list",
    handler: ({ control, resolved }) => control.recordScans.list(zoneOf(resolved)),
  }),
  route({
    method: "POST",
    path: `${SCAN}/review`,
    id: "dns-records-scan-review",
    summary: "Accept or reject DNS records that a scan found",
    scope: "zone",
    permissions: WRITE,
    body: DnsScanReview,
    // 3,500 records, of which each has up to 28 values.
    values_max: 100_000,
    result: DnsScanReviewResult,
    paging: "one",
    handler: ({ control, call, resolved, body }) => control.recordScans.review(call, zoneOf(resolved), body),
  }),
];
