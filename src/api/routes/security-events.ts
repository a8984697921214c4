import { route, type Route } from "#api/route.ts";
import { SecurityEvent, SecurityEventQuery } from "#model/security-event.ts";

// DESIGN.md §4 fixes the path: the activity log of a zone.
export const SECURITY_EVENT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/zones/:zone_id/security/events",
    id: "security-events-list",
    summary: "List a zone's security events, newest first",
    scope: "zone",
    permissions: ["Zone WAF Read", "Zone WAF Write", "Firewall Services Read", "Firewall Services Write", "Analytics Read", "Logs Read"],
    query: SecurityEventQuery,
    result: SecurityEvent,
    paging: "page",
    handler: ({ control, params, query, page }) => control.securityEvents.list(params.zone_id, { ...query, ...page }),
  }),
];
