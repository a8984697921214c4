import type { Page } from "#control/call.ts";
import { type Route, route } from "#api/route.ts";
import {
  GatewayRoute,
  GatewayRouteCreate,
  GatewayRouteUpdate,
  RouteDeployment,
  RouteDeploymentCreate,
  RouteVersion,
  RouteVersionCreate,
  RouteVersionDetail,
} from "#model/gateways/gateway-route.ts";

const READ = ["AI Gateway Read", "AI Gateway Write"] as const;
const WRITE = ["AI Gateway Write"] as const;
const ROUTES = "/accounts/:account_id/ai-gateway/gateways/:gateway_id/routes";
const ROUTE = "/accounts/:account_id/ai-gateway/gateways/:gateway_id/routes/:route_id";

const shared = { scope: "account", invalid_body: "gateway_input_invalid", invalid_query: "gateway_input_invalid" } as const;
const reading = { ...shared, permissions: READ } as const;
const writing = { ...shared, permissions: WRITE, paging: "one" } as const;
const PAGES = { paging: "page", per_page: { default: 20, max: 100 } } as const;

/** Additional place in which published clients look for the items of a list. */
const listedAs =
  (name: string) =>
  ({ items, page, per_page }: Page<unknown>): object => ({
    data: { [name]: items, page, per_page, order_by: "created_at", order_by_direction: "desc" },
  });

/** Dynamic routes of a gateway, their versions and deployments. */
export const GATEWAY_DYNAMIC_ROUTES: readonly Route[] = [
  route({
    ...reading,
    ...PAGES,
    method: "GET",
    path: ROUTES,
    id: "gateway-routes-list",
    summary: "List a gateway's dynamic routes",
    result: GatewayRoute,
    also: listedAs("routes"),
    handler: ({ control, params, page }) => control.gatewayRoutes.list(params.account_id, params.gateway_id, page),
  }),
  route({
    ...writing,
    method: "POST",
    path: ROUTES,
    id: "gateway-routes-create",
    summary: "Create a dynamic route and deploy it",
    body: GatewayRouteCreate,
    result: GatewayRoute,
    handler: ({ control, call, params, body }) => control.gatewayRoutes.create(call, params.account_id, params.gateway_id, body),
  }),
  route({
    ...reading,
    method: "GET",
    path: ROUTE,
    id: "gateway-routes-get",
    summary: "Show a dynamic route",
    result: GatewayRoute,
    paging: "one",
    handler: ({ control, params }) => control.gatewayRoutes.get(params.account_id, params.gateway_id, params.route_id),
  }),
  route({
    ...writing,
    method: "PATCH",
    path: ROUTE,
    id: "gateway-routes-edit",
    summary: "Rename a dynamic route",
    body: GatewayRouteUpdate,
    result: GatewayRoute,
    also: (shown) => ({ route: shown }),
    handler: ({ control, call, params, body }) =>
      control.gatewayRoutes.rename(call, params.account_id, params.gateway_id, params.route_id, body.name),
  }),
  route({
    ...writing,
    method: "DELETE",
    path: ROUTE,
    id: "gateway-routes-delete",
    summary: "Delete a dynamic route with its versions",
    result: GatewayRoute,
    handler: ({ control, call, params }) => control.gatewayRoutes.delete(call, params.account_id, params.gateway_id, params.route_id),
  }),
  route({
    ...reading,
    ...PAGES,
    method: "GET",
    path: `${ROUTE}/versions`,
    id: "gateway-route-versions-list",
    summary: "List the versions of a dynamic route, newest first",
    result: RouteVersion,
    also: listedAs("versions"),
    handler: ({ control, params, page }) => control.gatewayRoutes.listVersions(params.account_id, params.gateway_id, params.route_id, page),
  }),
  route({
    ...writing,
    method: "POST",
    path: `${ROUTE}/versions`,
    id: "gateway-route-versions-create",
    summary: "Create a version of a dynamic route",
    body: RouteVersionCreate,
    result: RouteVersionDetail,
    handler: ({ control, call, params, body }) =>
      control.gatewayRoutes.createVersion(call, params.account_id, params.gateway_id, params.route_id, body.elements),
  }),
  route({
    ...reading,
    method: "GET",
    path: `${ROUTE}/versions/:version_id`,
    id: "gateway-route-versions-get",
    summary: "Show a version of a dynamic route",
    result: RouteVersionDetail,
    paging: "one",
    handler: ({ control, params }) =>
      control.gatewayRoutes.getVersion(params.account_id, params.gateway_id, params.route_id, params.version_id),
  }),
  route({
    ...reading,
    ...PAGES,
    method: "GET",
    path: `${ROUTE}/deployments`,
    id: "gateway-route-deployments-list",
    summary: "List the deployments of a dynamic route, newest first",
    result: RouteDeployment,
    also: listedAs("deployments"),
    handler: ({ control, params, page }) =>
      control.gatewayRoutes.listDeployments(params.account_id, params.gateway_id, params.route_id, page),
  }),
  route({
    ...writing,
    method: "POST",
    path: `${ROUTE}/deployments`,
    id: "gateway-route-deployments-create",
    summary: "Deploy a version of a dynamic route",
    body: RouteDeploymentCreate,
    result: GatewayRoute,
    handler: ({ control, call, params, body }) =>
      control.gatewayRoutes.deploy(call, params.account_id, params.gateway_id, params.route_id, body.version_id),
  }),
];
