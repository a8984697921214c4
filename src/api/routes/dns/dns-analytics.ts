import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { DnsReport, DnsReportQuery, DnsTimeReport, DnsTimeReportQuery } from "#model/events/dns-report.ts";

const read = { method: "GET", scope: "zone", permissions: ["Analytics Read", "DNS Read", "DNS Write"], paging: "one" } as const;

export const DNS_ANALYTICS_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: "/zones/:zone_id/dns_analytics/report",
    id: "dns-analytics-report",
    summary: "Count a zone's DNS queries",
    query: DnsReportQuery,
    result: DnsReport,
    handler: ({ control, call, resolved, query }) => control.dnsReports.table(call, zoneOf(resolved).id, query),
  }),
  route({
    ...read,
    path: "/zones/:zone_id/dns_analytics/report/bytime",
    id: "dns-analytics-report-by-time",
    summary: "Count a zone's DNS queries by intervals of time",
    query: DnsTimeReportQuery,
    result: DnsTimeReport,
    handler: ({ control, call, resolved, query }) => control.dnsReports.byTime(call, zoneOf(resolved).id, query),
  }),
];
