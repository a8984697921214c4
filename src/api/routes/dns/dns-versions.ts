import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { DnsVersion, DnsVersionChange, DnsVersionDetail, DnsVersionDiffQuery } from "#model/dns/dns-version.ts";

const COLLECTION = "/zones/:zone_id/dns_versions";
const ITEM = "/zones/:zone_id/dns_versions/:version";
const READ = ["DNS Read", "DNS Write"] as const;
const WRITE = ["DNS Write"] as const;
/** Page sizes of changes, which are two records each. */
const CHANGES_PER_PAGE = { default: 100, max: 5000 } as const;

/** Selvedge's own: history, comparison and undo of a zone's records. */
export const DNS_VERSION_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: COLLECTION,
    id: "dns-versions-list",
    summary: "List the versions of a zone's DNS records, newest first",
    scope: "zone",
    permissions: READ,
    result: DnsVersion,
    paging: "page",
    handler: ({ control, resolved, page }) => control.dnsVersions.list(zoneOf(resolved), page),
  }),
  route({
    method: "GET",
    path: `${COLLECTION}/diff`,
    id: "dns-versions-diff",
    summary: "Compare two versions of a zone's DNS records",
    scope: "zone",
    permissions: READ,
    query: DnsVersionDiffQuery,
    result: DnsVersionChange,
    paging: "page",
    per_page: CHANGES_PER_PAGE,
    handler: ({ control, call, resolved, query, page }) => control.dnsVersions.diff(zoneOf(resolved), query, page, call),
  }),
  route({
    method: "GET",
    path: ITEM,
    id: "dns-versions-get",
    summary: "Show a version with its changes",
    scope: "zone",
    permissions: READ,
    result: DnsVersionDetail,
    paging: "one",
    handler: ({ control, resolved, params }) => control.dnsVersions.get(zoneOf(resolved), Number(params.version)),
  }),
  route({
    method: "GET",
    path: `${ITEM}/changes`,
    id: "dns-versions-changes-list",
    summary: "List all changes of a version",
    scope: "zone",
    permissions: READ,
    result: DnsVersionChange,
    paging: "page",
    per_page: CHANGES_PER_PAGE,
    handler: ({ control, resolved, params, page }) => control.dnsVersions.changes(zoneOf(resolved), Number(params.version), page),
  }),
  route({
    method: "POST",
    path: `${ITEM}/revert`,
    id: "dns-versions-revert",
    summary: "Revert the changes of one version",
    scope: "zone",
    permissions: WRITE,
    result: DnsVersion,
    paging: "one",
    handler: ({ control, call, resolved, params }) => control.dnsVersions.revert(call, zoneOf(resolved), Number(params.version)),
  }),
  route({
    method: "POST",
    path: `${ITEM}/restore`,
    id: "dns-versions-restore",
    summary: "Restore a zone's DNS records to a version",
    scope: "zone",
    permissions: WRITE,
    result: DnsVersion,
    paging: "one",
    handler: ({ control, call, resolved, params }) => control.dnsVersions.restore(call, zoneOf(resolved), Number(params.version)),
  }),
];
