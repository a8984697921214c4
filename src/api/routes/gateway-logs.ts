import { type Route, route } from "#api/route.ts";
import { GatewayLog, GatewayLogDetail, GatewayLogList } from "#model/gateway-log.ts";

const PERMISSIONS = ["AI Gateway Read", "AI Gateway Write"] as const;
const PATH = "/accounts/:account_id/ai-gateway/gateways/:gateway_id/logs";

/** Logs of a gateway's requests (contract.md §8). */
export const GATEWAY_LOG_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: PATH,
    id: "gateway-logs-list",
    summary: "List the requests that a gateway accepted, newest first",
    scope: "account",
    permissions: PERMISSIONS,
    query: GatewayLogList,
    result: GatewayLog,
    paging: "page",
    per_page: { default: 20, max: 50 },
    handler: ({ control, params, query, page }) => control.gatewayLogs.list(params.account_id, params.gateway_id, query, page),
  }),
  route({
    method: "GET",
    path: `${PATH}/:id`,
    id: "gateway-logs-get",
    summary: "Get one request of a gateway",
    scope: "account",
    permissions: PERMISSIONS,
    result: GatewayLogDetail,
    paging: "one",
    handler: ({ control, params }) => control.gatewayLogs.get(params.account_id, params.gateway_id, params.id),
  }),
];
