import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import type { IngressConfig } from "#model/tunnels/ingress.ts";
import type { Tunnel, TunnelConfiguration, TunnelConnection, TunnelConnector, TunnelStatus } from "#model/tunnels/tunnel.ts";
import type { ListedTunnelRow, TunnelRow } from "#store/tunnels/tunnels.ts";

/** Fewer connections, and the loss of one is an outage. */
const HEALTHY_CONNECTIONS = 2;

function statusOf({ conns_active_at: activeAt }: ListedTunnelRow, links: readonly TunnelLink[]): TunnelStatus {
  const standing = links.filter(({ draining }) => !draining).length;
  if (standing >= HEALTHY_CONNECTIONS) return "healthy";
  if (links.length > 0) return "degraded";
  return activeAt === null ? "inactive" : "down";
}

const connectionView = (link: TunnelLink): TunnelConnection => ({
  id: link.id,
  uuid: link.id,
  client_id: link.connector_id,
  client_version: link.version,
  colo_name: "local",
  opened_at: link.opened_at,
  origin_ip: link.address,
  is_pending_reconnect: link.draining,
});

export const tunnelView = (row: ListedTunnelRow, links: readonly TunnelLink[]): Tunnel => ({
  id: row.id,
  account_tag: row.account_id,
  name: row.name,
  config_src: row.config_src as Tunnel["config_src"],
  remote_config: row.config_src === "cloudflare",
  tun_type: "cfd_tunnel",
  status: statusOf(row, links),
  connections: links.map(connectionView),
  conns_active_at: links.length > 0 ? row.conns_active_at : null,
  conns_inactive_at: links.length > 0 ? null : row.conns_inactive_at,
  created_at: row.created_at,
  deleted_at: row.deleted_at,
  metadata: {},
});

/** Connectors with their connections, in the order in which they started. */
export const connectorViews = (links: readonly TunnelLink[]): TunnelConnector[] =>
  [...Map.groupBy(links, ({ connector_id }) => connector_id)]
    .map(([id, own]) => {
      const [first] = own as [TunnelLink, ...TunnelLink[]];
      return {
        ...{ id, arch: first.arch, version: first.version, features: [...first.features], run_at: first.run_at },
        // All connections of a connector share its rules, and a new one has not confirmed any.
        config_version: Math.max(...own.map(({ config_version }) => config_version)),
        conns: own.map(connectionView),
      };
    })
    .toSorted((a, b) => (a.run_at < b.run_at ? -1 : 1));

export const configurationView = (row: TunnelRow): TunnelConfiguration => ({
  tunnel_id: row.id,
  account_id: row.account_id,
  version: row.config_version,
  config: row.config === null ? null : (JSON.parse(row.config) as IngressConfig),
  source: row.config_src as TunnelConfiguration["source"],
  created_at: row.config_at,
});
