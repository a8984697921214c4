import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import {
  Tunnel,
  TunnelConfiguration,
  TunnelConfigurationWrite,
  TunnelConnectionsQuery,
  TunnelConnector,
  TunnelCreate,
  TunnelDelete,
  TunnelEdit,
  TunnelQuery,
} from "#model/tunnels/tunnel.ts";

/** The vendor renamed these groups and honours the former names. */
const WRITE = ["Cloudflare Tunnel Write", "Cloudflare One Connectors Write", "Cloudflare One Connector: cloudflared Write"] as const;
const READ = ["Cloudflare Tunnel Read", "Cloudflare One Connectors Read", "Cloudflare One Connector: cloudflared Read", ...WRITE] as const;
const COLLECTION = "/accounts/:account_id/cfd_tunnel";
const ITEM = `${COLLECTION}/:tunnel_id` as const;
/** Ended on 2024-02-04 (SPEC 9). */
const OLD_COLLECTION = "/accounts/:account_id/tunnels";
const shared = { scope: "account", invalid_body: "tunnel_invalid", invalid_query: "tunnel_invalid", paging: "one" } as const;

/** The routes that the older API has as well. */
const basicRoutes = (collection: typeof COLLECTION, id: string): readonly Route[] => [
  route({
    ...shared,
    permissions: READ,
    method: "GET",
    path: collection,
    id: `${id}-list`,
    summary: "List the tunnels of an account",
    query: TunnelQuery,
    result: Tunnel,
    paging: "page",
    per_page: { default: 100, max: 1000 },
    handler: ({ control, params, query, page }) => control.tunnels.list(params.account_id, query, page),
  }),
  route({
    ...shared,
    permissions: WRITE,
    method: "POST",
    path: collection,
    id: `${id}-create`,
    summary: "Create a tunnel",
    body: TunnelCreate,
    drops_unknown: [],
    result: Tunnel,
    handler: ({ control, call, params, body }) => control.tunnels.create(call, params.account_id, body),
  }),
  route({
    ...shared,
    permissions: READ,
    method: "GET",
    path: `${collection}/:tunnel_id`,
    id: `${id}-get`,
    summary: "Show a tunnel",
    result: Tunnel,
    handler: ({ control, params }) => control.tunnels.get(params.account_id, params.tunnel_id),
  }),
  route({
    ...shared,
    permissions: WRITE,
    method: "DELETE",
    path: `${collection}/:tunnel_id`,
    id: `${id}-delete`,
    summary: "Delete a tunnel",
    query: TunnelDelete,
    result: Tunnel,
    handler: ({ control, call, params, query }) =>
      control.tunnels.remove(call, params.account_id, params.tunnel_id, query.cascade ?? false),
  }),
];

export const TUNNEL_ROUTES: readonly Route[] = [
  ...basicRoutes(COLLECTION, "tunnels"),
  route({
    ...shared,
    permissions: WRITE,
    method: "PATCH",
    path: ITEM,
    id: "tunnels-edit",
    summary: "Rename a tunnel or change its secret",
    body: TunnelEdit,
    drops_unknown: [],
    result: Tunnel,
    handler: ({ control, call, params, body }) => control.tunnels.edit(call, params.account_id, params.tunnel_id, body),
  }),
  route({
    ...shared,
    permissions: WRITE,
    method: "GET",
    path: `${ITEM}/token`,
    id: "tunnels-token",
    summary: "Show the token that a tunnel's connectors need",
    result: Type.String(),
    handler: ({ control, params }) => control.tunnels.token(params.account_id, params.tunnel_id),
  }),
  route({
    ...shared,
    permissions: READ,
    method: "GET",
    path: `${ITEM}/configurations`,
    id: "tunnels-configuration-get",
    summary: "Show the ingress rules of a tunnel",
    result: TunnelConfiguration,
    handler: ({ control, params }) => control.tunnels.configuration(params.account_id, params.tunnel_id),
  }),
  route({
    ...shared,
    permissions: WRITE,
    method: "PUT",
    path: `${ITEM}/configurations`,
    id: "tunnels-configuration-update",
    summary: "Replace the ingress rules of a tunnel",
    body: TunnelConfigurationWrite,
    drops_unknown: [],
    result: TunnelConfiguration,
    handler: ({ control, call, params, body }) => control.tunnels.configure(call, params.account_id, params.tunnel_id, body),
  }),
  route({
    ...shared,
    permissions: READ,
    method: "GET",
    path: `${ITEM}/connections`,
    id: "tunnels-connections-list",
    summary: "List the connectors of a tunnel with their connections",
    result: TunnelConnector,
    paging: "list",
    handler: ({ control, params }) => control.tunnels.connectors(params.account_id, params.tunnel_id),
  }),
  route({
    ...shared,
    permissions: WRITE,
    method: "DELETE",
    path: `${ITEM}/connections`,
    id: "tunnels-connections-delete",
    summary: "End the connections of a tunnel",
    query: TunnelConnectionsQuery,
    result: Type.Null(),
    handler: ({ control, call, params, query }) => control.tunnels.disconnect(call, params.account_id, params.tunnel_id, query.client_id),
  }),
  route({
    ...shared,
    permissions: READ,
    method: "GET",
    path: `${ITEM}/connectors/:connector_id`,
    id: "tunnels-connector-get",
    summary: "Show a connector of a tunnel",
    result: TunnelConnector,
    handler: ({ control, params }) => control.tunnels.connector(params.account_id, params.tunnel_id, params.connector_id),
  }),
  ...basicRoutes(OLD_COLLECTION as typeof COLLECTION, "old-tunnels"),
];
