import { Type } from "typebox";
import { foldLogFilters } from "#api/gateway-log-query.ts";
import { type RawReply, type Route, route } from "#api/route.ts";
import type { LogBody } from "#control/gateways/logs.ts";
import { GatewayLog, GatewayLogDelete, GatewayLogDetail, GatewayLogList, GatewayLogPatch } from "#model/gateways/gateway-log.ts";

const READ = ["AI Gateway Read", "AI Gateway Write"] as const;
const WRITE = ["AI Gateway Write"] as const;
const PATH = "/accounts/:account_id/ai-gateway/gateways/:gateway_id/logs";
const Nothing = Type.Null();

/** An external body must not become a page of ours: JSON and text keep their types, other types become bytes. */
const rawReply = ({ type, bytes }: LogBody): RawReply => ({
  // linear: pumped
  type: /^application\/(?:[\w.+-]+\+)?json$/.test(type.split(";")[0] ?? "")
    ? "application/json"
    : type.startsWith("text/")
      ? "text/plain; charset=utf-8"
      : "application/octet-stream",
  body: bytes,
});

const bodyRoute = <const P extends string>(path: P, id: string, which: "request" | "response"): Route =>
  route({
    method: "GET",
    path: `${PATH}/:id/${path}`,
    id,
    summary: `Get the stored ${which} of one request through a gateway`,
    scope: "account",
    permissions: READ,
    result: Type.String(),
    paging: "raw",
    media_type: "application/json",
    handler: async ({ control, params }) =>
      rawReply(await control.gatewayLogs.body(params.account_id, params.gateway_id, params.id, which)),
  });

/** Logs of a gateway's requests (contract.md §8). */
export const GATEWAY_LOG_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: PATH,
    id: "gateway-logs-list",
    summary: "List the requests that a gateway accepted, newest first",
    scope: "account",
    permissions: READ,
    invalid_query: "gateway_input_invalid",
    query: GatewayLogList,
    strict_query: true,
    fold_query: foldLogFilters,
    result: GatewayLog,
    paging: "page",
    per_page: { default: 20, max: 50 },
    handler: ({ control, call, params, query, page }) => control.gatewayLogs.list(call, params.account_id, params.gateway_id, query, page),
  }),
  route({
    method: "DELETE",
    path: PATH,
    id: "gateway-logs-delete",
    summary: "Delete requests of a gateway from its log, oldest first",
    scope: "account",
    permissions: WRITE,
    invalid_query: "gateway_input_invalid",
    query: GatewayLogDelete,
    strict_query: true,
    fold_query: foldLogFilters,
    result: Nothing,
    paging: "one",
    handler: async ({ control, call, params, query }) => {
      await control.gatewayLogs.delete(call, params.account_id, params.gateway_id, query);
      return null;
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/:id`,
    id: "gateway-logs-get",
    summary: "Get one request of a gateway",
    scope: "account",
    permissions: READ,
    result: GatewayLogDetail,
    paging: "one",
    handler: ({ control, params }) => control.gatewayLogs.get(params.account_id, params.gateway_id, params.id),
  }),
  route({
    method: "PATCH",
    path: `${PATH}/:id`,
    id: "gateway-logs-update",
    summary: "Set the feedback, score or metadata of one request of a gateway",
    scope: "account",
    permissions: WRITE,
    body: GatewayLogPatch,
    invalid_body: "gateway_input_invalid",
    result: Type.Object({}),
    paging: "one",
    handler: async ({ control, params, body }) => {
      await control.gatewayLogs.patch(params.account_id, params.gateway_id, params.id, body);
      return {};
    },
  }),
  bodyRoute("request", "gateway-logs-request", "request"),
  bodyRoute("response", "gateway-logs-response", "response"),
];
