import { Type } from "typebox";
import { followed } from "#api/followed.ts";
import { route, type Route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { LoggedRequest, LoggedRequestQuery, LoggedRequestTail } from "#model/request-log.ts";

export const REQUEST_LOG_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/zones/:zone_id/logs/requests",
    id: "request-logs-list",
    summary: "List requests that the edge answered for a zone, newest first, with the fields that rules log",
    scope: "zone",
    permissions: ["Logs Read"],
    query: LoggedRequestQuery,
    strict_query: true,
    result: LoggedRequest,
    paging: "list",
    handler: ({ control, params, query }) => control.loggedRequests.list(params.zone_id, query),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/logs/requests/tail",
    id: "request-logs-tail",
    summary: "Follow the requests that the edge answers for a zone, as a stream of server-sent events",
    scope: "zone",
    permissions: ["Logs Read"],
    query: LoggedRequestTail,
    strict_query: true,
    result: Type.String(),
    paging: "raw",
    media_type: "text/event-stream",
    handler: async ({ control, resolved, params: { zone_id }, query, last_event_id: seen }) => {
      const asked = { ...(seen === undefined ? {} : { last_event_id: seen }), ...query };
      return followed(control.loggedRequests.tail(zone_id, asked, zoneOf(resolved).account_id));
    },
  }),
];
