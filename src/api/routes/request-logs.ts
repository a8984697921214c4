import { route, type Route } from "#api/route.ts";
import { LoggedRequest, LoggedRequestQuery } from "#model/request-log.ts";

export const REQUEST_LOG_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/zones/:zone_id/logs/requests",
    id: "request-logs-list",
    summary: "List requests that the edge answered for a zone, newest first, with the fields that rules log",
    scope: "zone",
    permissions: ["Logs Read"],
    query: LoggedRequestQuery,
    result: LoggedRequest,
    paging: "list",
    handler: ({ control, params, query }) => control.loggedRequests.list(params.zone_id, query),
  }),
];
