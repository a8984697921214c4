import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { ColoDashboard, DashboardQuery, ZoneDashboard } from "#model/zones/zone-dashboard.ts";

const read = { method: "GET", scope: "zone", permissions: ["Analytics Read", "Logs Read"], query: DashboardQuery } as const;

/** An installation counts as one colo. */
const COLO = "local";

/** The interface before GraphQL analytics (SPEC 9, 2021-03-01). */
export const ZONE_DASHBOARD_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: "/zones/:zone_id/analytics/dashboard",
    id: "zone-analytics-dashboard",
    summary: "Show a summary of a zone's traffic",
    result: ZoneDashboard,
    paging: "one",
    handler: ({ control, call, resolved, query }) => control.zoneDashboard(call, zoneOf(resolved).id, query),
  }),
  route({
    ...read,
    path: "/zones/:zone_id/analytics/colos",
    id: "zone-analytics-colos",
    summary: "Show a summary of a zone's traffic by data center",
    result: ColoDashboard,
    paging: "list",
    handler: async ({ control, call, resolved, query }) => {
      const { timeseries } = await control.zoneDashboard(call, zoneOf(resolved).id, query);
      return [{ colo_id: COLO, timeseries }];
    },
  }),
];
