import type { ConnectionLimits } from "#kernel/process/connection-places.ts";
import type { CounterPlace } from "#wire/redis/counter-server.ts";
import { EDGE_ALPN, EDGE_LIMITS, type EdgeConfig, type EdgeLimits } from "#edge/config.ts";
import type { ClickHousePlace } from "#events/clickhouse/connection.ts";
import type { RetentionLimits } from "#events/retention/retention.ts";
import { DEFAULT_RETENTION } from "#events/write/writer-config.ts";
import { GATEWAY_LIMITS, type GatewayConfig } from "#gateway/config.ts";
import { NAMESERVER_LIMITS, type NameserverConfig } from "#nameserver/config.ts";
import type { TrustedProxies } from "#kernel/net/client-addresses.ts";
import type { AllowedHosts } from "#kernel/net/host-gate.ts";
import { type ListenPlace, socketName } from "#kernel/net/listen-place.ts";
import { canonicalAddresses } from "#control/nodes/edge-addresses.ts";
import type { Config } from "#app/config/config.ts";
import { addressesOf, LISTEN_PLACES } from "#app/config/listen-places.ts";
import { gatewayCacheDisk } from "./plane-caches.ts";
import type { PlaneFiles } from "./plane-files.ts";
import type { LiveConfig } from "#app/config/live-config.ts";
import type { GatewayFront, PeerName } from "#kernel/process/worker-protocol.ts";
import type { Bound } from "#app/threads/thread-ports.ts";
import { certificateNames } from "#app/config/tls-files.ts";

// The operator's configuration for each plane. `bound`: the ports of an earlier start.

/** The first address of a listener, with the port that it has. */
const firstOf = ([first]: readonly ListenPlace[], transport: string, bound: Bound): ListenPlace => boundAt(first!, transport, bound);

/** Its other addresses. */
const furtherOf = (places: readonly ListenPlace[], transport: string, bound: Bound): readonly ListenPlace[] =>
  places.slice(1).map((place, i) => boundAt(place, socketName(transport, i + 1), bound));

const boundAt = ({ orAny, ...place }: ListenPlace, name: string, bound: Bound): ListenPlace => {
  const port = bound[name];
  return port === undefined ? { ...place, ...(orAny === undefined ? {} : { orAny }) } : { ...place, port };
};

/**
 * `edge`: the ports already open for the edge. `rateTable`: one for all threads, because the kernel distributes a
 * network's queries among them.
 */
export const nameserverConfig = (config: Config, bound: Bound, edge: Bound, rateTable: SharedArrayBuffer): NameserverConfig => ({
  ...firstOf(LISTEN_PLACES.dns(config), "udp", bound),
  further: furtherOf(LISTEN_PLACES.dns(config), "udp", bound).map((dns, i) => ({
    dns,
    dot: furtherOf(LISTEN_PLACES.dot(config), "dot", bound)[i]!,
  })),
  reusePort: config.dns.workers > 1,
  edgeAddresses: edgeAddresses(config),
  edgeProtocols: { alpn: EDGE_ALPN, port: edge["https"] ?? config.https.port },
  nsid: config.dns.nsid,
  rateLimit: {
    perSecond: config.dns.rate_limit_per_second,
    allPerSecond: config.dns.rate_limit_all_per_second,
    slip: config.dns.rate_limit_slip,
    exempt: config.dns.rate_limit_exempt,
    table: rateTable,
  },
  dot: firstOf(LISTEN_PLACES.dot(config), "dot", bound),
  doh: { port: bound["doh"] ?? 0 },
  resolvers: config.dns.resolvers,
  limits: NAMESERVER_LIMITS,
});

export const edgeConfig = (
  config: Config,
  bound: Bound,
  { doh, gateway, images }: Readonly<Record<PeerName, number>>,
): Omit<EdgeConfig, "ticketKeys" | "cacheDisk" | "counters" | "places" | "ruleMaterial"> => ({
  host: LISTEN_PLACES.http(config)[0]!.host,
  onlyIpv6: LISTEN_PLACES.http(config)[0]!.onlyIpv6,
  httpPort: bound["http"] ?? config.http.port,
  httpsPort: bound["https"] ?? config.https.port,
  further: furtherOf(LISTEN_PLACES.http(config), "http", bound).map((http, i) => ({
    http,
    https: furtherOf(LISTEN_PLACES.https(config), "https", bound)[i]!,
  })),
  workers: config.edge.workers,
  reusePort: config.edge.workers > 1,
  vendorPrefix: config.vendor.prefix,
  originPort: config.edge.origin_port,
  originAllow: config.edge.origin_allow,
  resolvers: config.dns.resolvers,
  doh: { hosts: config.dns.name_servers, port: doh },
  gatewayPort: gateway,
  imagesPort: images,
  ...sharedCounters(config),
  proxyProtocolFrom: config.edge.proxy_protocol_from,
  trustedProxies: trustedProxies(config.edge),
  cacheMemoryBytesMax: Math.floor(config.edge.cache_memory_bytes_max / config.edge.workers),
  limits: edgeLimits(config),
});

/** The operator's limits, with this thread's share of the counted ones: the kernel distributes connections evenly. */
const edgeLimits = ({ edge }: Config): EdgeLimits => ({
  ...EDGE_LIMITS,
  connectionsMax: Math.ceil(edge.connections_max / edge.workers),
  connectionsPerAddressMax: Math.ceil(edge.connections_per_address_max / edge.workers),
  headTimeoutMs: edge.header_timeout_seconds * 1000,
  idleTimeoutMs: edge.idle_timeout_seconds * 1000,
  bodyTimeoutMs: edge.body_timeout_seconds * 1000,
  bodyBytesMin: (edge.body_bytes_per_second_min * EDGE_LIMITS.bodyWindowMs) / 1000,
  requestBodyBytesMax: edge.request_body_bytes_max,
  ruleBodyBytesMax: edge.rule_body_bytes_max,
  ruleBodyMemoryBytesMax: Math.floor(edge.rule_body_memory_bytes_max / edge.workers),
  connectTimeoutMs: edge.origin_connect_timeout_seconds * 1000,
  originConnectionsMax: Math.ceil(edge.origin_connections_max / edge.workers),
  responseTimeoutMs: edge.response_timeout_seconds * 1000,
  originHeadBytesMax: edge.origin_header_bytes_max,
  originHeadFieldsMax: edge.origin_header_fields_max,
  tunnelIdleTimeoutMs: edge.tunnel_idle_timeout_seconds * 1000,
});

/** Settings of one listener's section. */
export const trustedProxies = (section: Pick<Config["edge"], "trusted_proxies" | "client_address_header">): TrustedProxies => ({
  networks: section.trusted_proxies,
  field: section.client_address_header,
});

export const connectionLimits = (section: Pick<Config["api"], "connections_max" | "connections_per_address_max">): ConnectionLimits => ({
  connectionsMax: section.connections_max,
  connectionsPerAddressMax: section.connections_per_address_max,
});

function guardrailModel({ gateway }: Config): Pick<GatewayConfig, "guardrail"> {
  const [provider = "", model = ""] = gateway.guardrail_model.split(/\/(.*)/s);
  return model === "" ? {} : { guardrail: { provider, model, key: gateway.guardrail_key } };
}

export const gatewayConfig = (config: Config, front: GatewayFront, files: PlaneFiles, bound: Bound): GatewayConfig => ({
  ...firstOf(LISTEN_PLACES.gateway(config), "http", bound),
  further: furtherOf(LISTEN_PLACES.gateway(config), "http", bound),
  edgePort: bound["edge"] ?? 0,
  vendorPrefix: config.vendor.prefix,
  trustedProxies: trustedProxies(config.gateway),
  providers: config.gateway.providers,
  ...guardrailModel(config),
  ...front,
  ...gatewayCacheDisk(config, files),
  providerAllow: config.gateway.provider_allow,
  spendJournal: files.spendJournal,
  ...sharedCounters(config),
  limits: {
    ...GATEWAY_LIMITS,
    ...connectionLimits(config.gateway),
    cacheMemoryBytesMax: config.gateway.cache_memory_bytes_max,
  },
});

/** The server with which other machines count, too. */
export const sharedCounters = ({ counters }: Config): { readonly sharedCounters?: CounterPlace } =>
  counters.url === "" ? {} : { sharedCounters: counters };

/** Settings that can change while the gateway runs. */
export const gatewayFront = (live: LiveConfig): GatewayFront => ({
  ...live.tls(),
  allowedHosts: allowedHosts(live, live.current().gateway.host),
});

/** Settings of a listener at these addresses, from the operator's configuration and certificate. */
export const allowedHosts = (live: LiveConfig, hosts: readonly string[]): AllowedHosts => ({
  names: [...addressesOf(hosts), ...live.current().api.allowed_hosts, ...certificateNames(live.tls())],
  anyAddress: addressesOf(hosts).some((host) => host === "0.0.0.0" || host === "::"),
});

/** The nameserver's answer for proxied names. */
export const edgeAddresses = (config: Config): readonly string[] =>
  config.edge.addresses.length > 0 ? config.edge.addresses : config.edge.host;

/** Addresses of edges that are no nodes: those that the operator names, or those of this process's own edge. */
export const fixedEdgeAddresses = (config: Config): readonly string[] =>
  canonicalAddresses(config.edge.addresses.length === 0 && !config.roles.includes("edge") ? [] : edgeAddresses(config));

/** Where the rows of events are, if not in the embedded database. */
export const clickHouseOf = ({ events: { url, ca } }: Config): ClickHousePlace | undefined => (url === "" ? undefined : { url, ca });

const DAY_MS = 86_400_000;

export const retentionOf = ({ events }: Config): RetentionLimits => ({
  ...DEFAULT_RETENTION,
  ageMs: events.rows_retention_days * DAY_MS,
  bytes: events.bytes_max,
  minutesAgeMs: events.minutes_retention_days * DAY_MS,
  hoursAgeMs: events.hours_retention_days * DAY_MS,
});
