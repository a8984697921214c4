import { type Route, route } from "#api/route.ts";
import { GatewayDomain, GatewayDomainCreate, GatewayDomainCreated, GatewayDomainQuery } from "#model/gateways/gateway-domain.ts";

const COLLECTION = "/accounts/:account_id/ai-gateway/gateways/:gateway_id/custom-domains";
const ITEM = "/accounts/:account_id/ai-gateway/gateways/:gateway_id/custom-domains/:hostname";
const READ = ["AI Gateway Read", "AI Gateway Write"] as const;
const WRITE = ["AI Gateway Write"] as const;
const shared = { scope: "account", invalid_body: "gateway_input_invalid", invalid_query: "gateway_input_invalid" } as const;

/** An account's host names for its gateways. */
export const GATEWAY_DOMAIN_ROUTES: readonly Route[] = [
  route({
    ...shared,
    permissions: READ,
    method: "GET",
    path: COLLECTION,
    id: "gateway-domains-list",
    summary: "List the host names of a gateway",
    query: GatewayDomainQuery,
    result: GatewayDomain,
    paging: "page",
    per_page: { default: 20, max: 100 },
    handler: ({ control, params, query, page }) => control.gatewayDomains.list(params.account_id, params.gateway_id, query, page),
  }),
  route({
    ...shared,
    permissions: WRITE,
    method: "POST",
    path: COLLECTION,
    id: "gateway-domains-create",
    summary: "Add a host name to a gateway",
    body: GatewayDomainCreate,
    result: GatewayDomainCreated,
    paging: "one",
    handler: ({ control, call, params, body }) => control.gatewayDomains.create(call, params.account_id, params.gateway_id, body),
  }),
  route({
    ...shared,
    permissions: READ,
    method: "GET",
    path: ITEM,
    id: "gateway-domains-get",
    summary: "Show a host name of a gateway",
    result: GatewayDomain,
    paging: "one",
    handler: ({ control, params }) => control.gatewayDomains.get(params.account_id, params.gateway_id, params.hostname),
  }),
  route({
    ...shared,
    permissions: WRITE,
    method: "DELETE",
    path: ITEM,
    id: "gateway-domains-delete",
    summary: "Remove a host name from a gateway",
    result: GatewayDomain,
    paging: "one",
    handler: ({ control, call, params }) => control.gatewayDomains.delete(call, params.account_id, params.gateway_id, params.hostname),
  }),
];
