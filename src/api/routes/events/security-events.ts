import { Type } from "typebox";
import { exported } from "#api/file-response.ts";
import { followed, resumed } from "#api/event-stream-response.ts";
import { route, type Route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import type { PermissionGroupName } from "#model/access/permission-groups.ts";
import { SecurityEvent, SecurityEventExport, SecurityEventQuery, SecurityEventTail } from "#model/events/security-event.ts";

const ZONE_READERS: readonly PermissionGroupName[] = [
  "Zone WAF Read",
  "Zone WAF Write",
  "Firewall Services Read",
  "Firewall Services Write",
  "Analytics Read",
  "Logs Read",
];

// DESIGN.md §4 fixes the path: the activity log of a zone.
export const SECURITY_EVENT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/zones/:zone_id/security/events",
    id: "security-events-list",
    summary: "List a zone's security events, newest first",
    scope: "zone",
    permissions: ZONE_READERS,
    query: SecurityEventQuery,
    strict_query: true,
    result: SecurityEvent,
    paging: "page",
    handler: ({ control, params: { zone_id }, query, page }) => control.securityEvents.list({ zone_id }, { ...query, ...page }),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/security/events/export",
    id: "security-events-export",
    summary: "Export a zone's security events as lines of JSON or as CSV, newest first",
    scope: "zone",
    permissions: ZONE_READERS,
    query: SecurityEventExport,
    strict_query: true,
    result: Type.String(),
    paging: "raw",
    media_type: "application/x-ndjson",
    handler: async ({ control, resolved, params: { zone_id }, query }) =>
      exported("security-events", query.format, control.securityEvents.export({ zone_id }, query, zoneOf(resolved).account_id)),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/security/events/tail",
    id: "security-events-tail",
    summary: "Follow a zone's security events live, as a stream of server-sent events",
    scope: "zone",
    permissions: ZONE_READERS,
    query: SecurityEventTail,
    strict_query: true,
    result: Type.String(),
    paging: "raw",
    media_type: "text/event-stream",
    handler: async ({ control, resolved, params: { zone_id }, query, last_event_id: lastSeen }) =>
      followed(control.securityEvents.tail({ zone_id }, resumed(query, lastSeen), zoneOf(resolved).account_id)),
  }),
  route({
    method: "GET",
    path: "/accounts/:account_id/security/events",
    id: "account-security-events-list",
    summary: "List the security events of an account's zones, newest first",
    scope: "account",
    permissions: ["Account Analytics Read", "Logs Read"],
    query: SecurityEventQuery,
    strict_query: true,
    result: SecurityEvent,
    paging: "page",
    handler: ({ control, params: { account_id }, query, page }) => control.securityEvents.list({ account_id }, { ...query, ...page }),
  }),
  route({
    method: "GET",
    path: "/accounts/:account_id/security/events/export",
    id: "account-security-events-export",
    summary: "Export the security events of an account's zones as lines of JSON or as CSV, newest first",
    scope: "account",
    permissions: ["Account Analytics Read", "Logs Read"],
    query: SecurityEventExport,
    strict_query: true,
    result: Type.String(),
    paging: "raw",
    media_type: "application/x-ndjson",
    handler: async ({ control, params: { account_id }, query }) =>
      exported("security-events", query.format, control.securityEvents.export({ account_id }, query, account_id)),
  }),
  route({
    method: "GET",
    path: "/accounts/:account_id/security/events/tail",
    id: "account-security-events-tail",
    summary: "Follow the security events of an account's zones live, as a stream of server-sent events",
    scope: "account",
    permissions: ["Account Analytics Read", "Logs Read"],
    query: SecurityEventTail,
    strict_query: true,
    result: Type.String(),
    paging: "raw",
    media_type: "text/event-stream",
    handler: async ({ control, params: { account_id }, query, last_event_id: lastSeen }) =>
      followed(control.securityEvents.tail({ account_id }, resumed(query, lastSeen), account_id)),
  }),
];
