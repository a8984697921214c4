import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { Gateway, GatewayCreate, GatewayUpdate } from "#model/gateways/gateway.ts";
import { GatewayTried, GatewayTry } from "#model/gateways/gateway-try.ts";

const COLLECTION = "/accounts/:account_id/ai-gateway/gateways";
const ITEM = "/accounts/:account_id/ai-gateway/gateways/:gateway_id";
const READ = ["AI Gateway Read", "AI Gateway Write"] as const;
const WRITE = ["AI Gateway Write"] as const;

export const GATEWAY_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: COLLECTION,
    id: "gateways-list",
    summary: "List AI gateways",
    scope: "account",
    permissions: READ,
    invalid_query: "gateway_input_invalid",
    query: Type.Object({ search: Type.Optional(Type.String({ maxLength: 64, description: "Part of the id." })) }),
    result: Gateway,
    paging: "page",
    per_page: { default: 20, max: 100 },
    handler: ({ control, params, query, page }) => control.gateways.list(params.account_id, query, page),
  }),
  route({
    method: "POST",
    path: COLLECTION,
    id: "gateways-create",
    summary: "Create an AI gateway",
    scope: "account",
    permissions: WRITE,
    body: GatewayCreate,
    invalid_body: "gateway_input_invalid",
    result: Gateway,
    paging: "one",
    handler: ({ control, call, params, body }) => control.gateways.create(call, params.account_id, body),
  }),
  route({
    method: "GET",
    path: ITEM,
    id: "gateways-get",
    summary: "Show an AI gateway",
    scope: "account",
    permissions: READ,
    result: Gateway,
    paging: "one",
    handler: ({ control, params }) => control.gateways.get(params.account_id, params.gateway_id),
  }),
  route({
    method: "PUT",
    path: ITEM,
    id: "gateways-update",
    summary: "Update an AI gateway",
    scope: "account",
    permissions: WRITE,
    body: GatewayUpdate,
    invalid_body: "gateway_input_invalid",
    result: Gateway,
    paging: "one",
    handler: ({ control, call, params, body }) => control.gateways.update(call, params.account_id, params.gateway_id, body),
  }),
  route({
    method: "DELETE",
    path: ITEM,
    id: "gateways-delete",
    summary: "Delete an AI gateway",
    scope: "account",
    permissions: WRITE,
    result: Gateway,
    paging: "one",
    handler: ({ control, call, params }) => control.gateways.delete(call, params.account_id, params.gateway_id),
  }),
  route({
    method: "POST",
    path: `${ITEM}/try`,
    id: "gateways-try",
    summary: "Send a request through an AI gateway and show its response",
    scope: "account",
    permissions: WRITE,
    body: GatewayTry,
    invalid_body: "gateway_input_invalid",
    result: GatewayTried,
    paging: "one",
    handler: ({ control, params, body }) => control.gatewayTries.send(params.account_id, params.gateway_id, body),
  }),
];
