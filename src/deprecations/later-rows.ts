import type { Deprecation } from "./deprecation.ts";
import { DEPRECATIONS } from "./table.ts";

const DNS_RECORD = "/zones/:zone_id/dns_records/:dns_record_id";
const GATEWAYS = "/accounts/:account_id/ai-gateway/gateways";
const DNS_ANALYTICS = "/zones/:zone_id/dns_analytics/report";

/** Rows that the field announced after the list of SPEC 9, newest first. They apply only if the operator wants them. */
export const LATER_ROWS: readonly Deprecation[] = [
  {
    id: "dns-analytics-rest",
    date: "2026-12-01",
    added: "2026-11-27",
    routes: [`GET ${DNS_ANALYTICS}`, `GET ${DNS_ANALYTICS}/bytime`],
    effect: { kind: "endpoint_gone" },
    replacement: "GraphQL: dnsAnalyticsAdaptiveGroups",
    was: "Reports of DNS queries had their own endpoints.",
    why: "GraphQL answers the same questions.",
    spec: "The field's list, 2026-12-01",
  },
  {
    id: "gateways-without-authentication",
    date: "2026-11-03",
    added: "2026-11-27",
    routes: [`POST ${GATEWAYS}`, `PUT ${GATEWAYS}/:gateway_id`],
    effect: { kind: "call_rule", rule: "authenticated_gateways", field: "authentication" },
    replacement: "gateways with authentication",
    was: "A new gateway needed no authentication unless its creator asked for it, and authentication could be turned off.",
    why: "Requests of others inflate logs and cost money.",
    spec: "The field's changes, 2026-11-03; against SPEC 3.1 for new gateways",
  },
  {
    id: "zone-settings-batch",
    date: "2026-09-15",
    added: "2026-11-27",
    routes: ["GET /zones/:zone_id/settings", "PATCH /zones/:zone_id/settings"],
    effect: { kind: "endpoint_gone" },
    replacement: "GET and PATCH /zones/{zone_id}/settings/{setting_id}",
    was: "One call read or changed many settings of a zone.",
    why: "Each setting has its own endpoint.",
    spec: "The field's list, 2026-09-15",
  },
  {
    id: "dns-record-type-change",
    date: "2026-06-30",
    added: "2026-11-27",
    routes: [`PATCH ${DNS_RECORD}`, `PUT ${DNS_RECORD}`, "POST /zones/:zone_id/dns_records/batch"],
    effect: { kind: "call_rule", rule: "fixed_record_types" },
    replacement: "delete the record and create a new one, together by POST /zones/{zone_id}/dns_records/batch",
    was: "A change of a record could change its type.",
    why: "A record of another type is another record.",
    spec: "The field's list, 2026-06-30",
  },
];

/** The rows that an installation follows, newest first. */
export const deprecationTable = (withLaterRows: boolean): readonly Deprecation[] =>
  withLaterRows ? [...LATER_ROWS, ...DEPRECATIONS] : DEPRECATIONS;
