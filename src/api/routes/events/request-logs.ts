import { Type } from "typebox";
import { exported } from "#api/file-response.ts";
import { followed, resumed } from "#api/event-stream-response.ts";
import { route, type Route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { LoggedRequest, LoggedRequestExport, LoggedRequestQuery, LoggedRequestTail } from "#model/events/request-log.ts";

const READERS = ["Logs Read"] as const;
const PER_PAGE = { default: 100, min: 1, max: 1000 } as const;

export const REQUEST_LOG_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/zones/:zone_id/logs/requests",
    id: "request-logs-list",
    summary: "List requests that the edge answered for a zone, newest first, with the fields that rules log",
    scope: "zone",
    permissions: READERS,
    query: LoggedRequestQuery,
    strict_query: true,
    result: LoggedRequest,
    paging: "page",
    per_page: PER_PAGE,
    handler: ({ control, params: { zone_id }, query, page }) => control.loggedRequests.list({ zone_id }, { ...query, ...page }),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/logs/requests/export",
    id: "request-logs-export",
    summary: "Export requests that the edge answered for a zone as lines of JSON or as CSV, newest first",
    scope: "zone",
    permissions: READERS,
    query: LoggedRequestExport,
    strict_query: true,
    result: Type.String(),
    paging: "raw",
    media_type: "application/x-ndjson",
    handler: async ({ control, resolved, params: { zone_id }, query }) =>
      exported("requests", query.format, control.loggedRequests.export({ zone_id }, query, zoneOf(resolved).account_id)),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/logs/requests/tail",
    id: "request-logs-tail",
    summary: "Follow the requests that the edge answers for a zone, as a stream of server-sent events",
    scope: "zone",
    permissions: READERS,
    query: LoggedRequestTail,
    strict_query: true,
    result: Type.String(),
    paging: "raw",
    media_type: "text/event-stream",
    handler: async ({ control, resolved, params: { zone_id }, query, last_event_id: lastSeen }) =>
      followed(control.loggedRequests.tail({ zone_id }, resumed(query, lastSeen), zoneOf(resolved).account_id)),
  }),
  route({
    method: "GET",
    path: "/accounts/:account_id/logs/requests",
    id: "account-request-logs-list",
    summary: "List requests that the edge answered for an account's zones, newest first, with the fields that rules log",
    scope: "account",
    permissions: READERS,
    query: LoggedRequestQuery,
    strict_query: true,
    result: LoggedRequest,
    paging: "page",
    per_page: PER_PAGE,
    handler: ({ control, params: { account_id }, query, page }) => control.loggedRequests.list({ account_id }, { ...query, ...page }),
  }),
  route({
    method: "GET",
    path: "/accounts/:account_id/logs/requests/export",
    id: "account-request-logs-export",
    summary: "Export requests that the edge answered for an account's zones as lines of JSON or as CSV, newest first",
    scope: "account",
    permissions: READERS,
    query: LoggedRequestExport,
    strict_query: true,
    result: Type.String(),
    paging: "raw",
    media_type: "application/x-ndjson",
    handler: async ({ control, params: { account_id }, query }) =>
      exported("requests", query.format, control.loggedRequests.export({ account_id }, query, account_id)),
  }),
  route({
    method: "GET",
    path: "/accounts/:account_id/logs/requests/tail",
    id: "account-request-logs-tail",
    summary: "Follow the requests that the edge answers for an account's zones, as a stream of server-sent events",
    scope: "account",
    permissions: READERS,
    query: LoggedRequestTail,
    strict_query: true,
    result: Type.String(),
    paging: "raw",
    media_type: "text/event-stream",
    handler: async ({ control, params: { account_id }, query, last_event_id: lastSeen }) =>
      followed(control.loggedRequests.tail({ account_id }, resumed(query, lastSeen), account_id)),
  }),
];
