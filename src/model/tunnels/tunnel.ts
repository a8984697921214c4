import { type Static, Type } from "typebox";
import { IngressConfig } from "./ingress.ts";

const Uuid = Type.String({ format: "uuid" });
const Time = Type.String({ format: "date-time" });
const Status = Type.Enum(["inactive", "degraded", "healthy", "down"]);
export type TunnelStatus = Static<typeof Status>;
const ConfigSource = Type.Enum(["local", "cloudflare"], {
  description: "Where a connector's ingress rules come from: its own command line (`local`), or this API (`cloudflare`).",
});
const Name = Type.String({ minLength: 1, maxLength: 100 });
const Secret = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "Base64 of at least 32 bytes. By default the server chooses it.",
});

/** One of the connections of a connector to the edge. */
export const TunnelConnection = Type.Object({
  id: Uuid,
  uuid: Uuid,
  client_id: Type.String({ format: "uuid", description: "The connector." }),
  client_version: Type.String(),
  colo_name: Type.String({ description: "Always `local`." }),
  opened_at: Time,
  origin_ip: Type.String({ description: "The address from which the connector dials." }),
  is_pending_reconnect: Type.Boolean({ description: "Whether the connector is ending, and takes no more requests here." }),
});
export type TunnelConnection = Static<typeof TunnelConnection>;

/** A process that connects origins to the edge, with its connections. */
export const TunnelConnector = Type.Object({
  id: Uuid,
  arch: Type.String(),
  version: Type.String(),
  features: Type.Array(Type.String()),
  run_at: Time,
  config_version: Type.Integer({
    description: "The newest rules that it has confirmed; 0 before that, and if its rules come from its own command line.",
  }),
  conns: Type.Array(TunnelConnection),
});
export type TunnelConnector = Static<typeof TunnelConnector>;

/** A way from the edge to origins that have no open port: connectors dial out to the edge, which sends requests back. */
export const Tunnel = Type.Object({
  id: Uuid,
  account_tag: Type.String({ maxLength: 32 }),
  name: Name,
  config_src: ConfigSource,
  remote_config: Type.Boolean(),
  tun_type: Type.Literal("cfd_tunnel"),
  status: Status,
  connections: Type.Array(TunnelConnection),
  conns_active_at: Type.Union([Time, Type.Null()], { description: "Since when it has connections." }),
  conns_inactive_at: Type.Union([Time, Type.Null()], { description: "Since when it has no more connections." }),
  created_at: Time,
  deleted_at: Type.Union([Time, Type.Null()]),
  metadata: Type.Object({}),
});
export type Tunnel = Static<typeof Tunnel>;

export const TunnelCreate = Type.Object({
  name: Name,
  config_src: Type.Optional(ConfigSource),
  tunnel_secret: Type.Optional(Secret),
});
export type TunnelCreate = Static<typeof TunnelCreate>;

export const TunnelEdit = Type.Object({ name: Type.Optional(Name), tunnel_secret: Type.Optional(Secret) });
export type TunnelEdit = Static<typeof TunnelEdit>;

export const TunnelQuery = Type.Object({
  name: Type.Optional(Name),
  uuid: Type.Optional(Uuid),
  status: Type.Optional(Status),
  is_deleted: Type.Optional(Type.Boolean({ description: "By default deleted tunnels are listed as well." })),
  existed_at: Type.Optional(Time),
  was_active_at: Type.Optional(Time),
  was_inactive_at: Type.Optional(Time),
  include_prefix: Type.Optional(Type.String({ maxLength: 100 })),
  exclude_prefix: Type.Optional(Type.String({ maxLength: 100 })),
});
export type TunnelQuery = Static<typeof TunnelQuery>;

export const TunnelDelete = Type.Object({
  cascade: Type.Optional(Type.Boolean({ description: "Also ends its connections. Without it, a tunnel with connections is not deleted." })),
});
export type TunnelDelete = Static<typeof TunnelDelete>;

export const TunnelConnectionsQuery = Type.Object({ client_id: Type.Optional(Uuid) });

export const TunnelConfiguration = Type.Object({
  tunnel_id: Uuid,
  account_id: Type.String({ maxLength: 32 }),
  version: Type.Integer({ description: "0 before the first configuration; each one raises it." }),
  config: Type.Union([IngressConfig, Type.Null()]),
  source: ConfigSource,
  created_at: Time,
});
export type TunnelConfiguration = Static<typeof TunnelConfiguration>;

export const TunnelConfigurationWrite = Type.Object({ config: IngressConfig });
export type TunnelConfigurationWrite = Static<typeof TunnelConfigurationWrite>;
