import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { DnsQuery, DnsQueryResult } from "#model/dns/dns-query.ts";

export const DNS_QUERY_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/zones/:zone_id/dns_query",
    id: "dns-query",
    summary: "Query the nameserver, and explain its answer",
    scope: "zone",
    permissions: ["DNS Read", "DNS Write"],
    body: DnsQuery,
    result: DnsQueryResult,
    paging: "one",
    handler: ({ control, resolved, body }) => control.zoneQueries.ask(zoneOf(resolved), body),
  }),
];
