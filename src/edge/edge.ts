import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import { createCidrSet } from "#kernel/net/cidr.ts";
import { createClientAddresses } from "#kernel/net/client-addresses.ts";
import type { ListeningSockets, RuleMaterial, PeerName, TicketKeys } from "#kernel/process/worker-protocol.ts";
import type { PageSighting } from "#kernel/process/page-sighting.ts";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import { TUNNEL_ALPN } from "#wire/tls/tunnel-protocol.ts";
import { createEdgeTunnels, type EdgeTunnels } from "#edge/tunnels/edge-tunnels.ts";
import { type Clock, machineMs } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { RequestSink } from "#events/rows/rows.ts";
import { createCertificates } from "#snapshot/certificates.ts";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import type { Replica } from "#snapshot/feed.ts";
import { type ListenPlace, socketName } from "#kernel/net/listen-place.ts";
import { createAddressPolicy } from "#kernel/net/address-policy.ts";
import type { SessionLimits } from "#wire/http2/session.ts";
import { WindowBudget } from "#wire/http2/window-budget.ts";
import { createConnectionPlaces } from "#kernel/process/connection-places.ts";
import { createEdgeCache } from "./cache/cache.ts";
import { createLaunch } from "#edge/pipeline/origin-fetch.ts";
import { serveHttp1 } from "#edge/http1/http1-visitor.ts";
import { createCodecs } from "./compression/codecs.ts";
import { createMinifier } from "./minify/minifier.ts";
import { createClearance } from "./challenge/clearance.ts";
import { createAcmeChallenges } from "./stages/acme-challenge.ts";
import { createChallenges } from "./stages/challenge.ts";
import type { EdgeConfig, EdgeLimits } from "./config.ts";
import type { EdgeContext } from "#edge/pipeline/context.ts";
import type { BodyTee } from "./detection/body-tee.ts";
import type { SocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { End, Transport } from "#wire/connections/transport/transport.ts";
import { createDohRoute, type DohRoute } from "#edge/origin/doh-route.ts";
import { createGatewayRoute, type GatewayRoute } from "#edge/origin/gateway-route.ts";
import { createImageRoute, type ImageRoute } from "#edge/origin/image-route.ts";
import type { OnInvalidRule } from "#edge/zones/entry-points.ts";
import type { ConnectionInfo } from "#edge/exchange/exchange.ts";
import { serveHttp2 } from "#edge/http2/http2-visitor.ts";
import { rayField } from "#edge/http/ray-field.ts";
import { HeldResponse } from "#edge/exchange/held-response.ts";
import { createRequestBuffers } from "#edge/exchange/request-buffer.ts";
import { createHostsFile } from "#edge/origin/hosts-file.ts";
import { type Listener, openListener } from "#edge/listen/listener.ts";
import { createLookUp } from "#edge/origin/dns-client.ts";
import { createOriginHeads } from "#edge/origin/origin-head.ts";
import { createOriginHealth } from "#edge/origin/origin-health.ts";
import { createOriginTlsClient } from "#edge/origin/origin-tls.ts";
import { createOriginSelector } from "#edge/origin/origin.ts";
import { createPipeline } from "#edge/pipeline/pipeline.ts";
import { createGeoip, type GeoipDatabases, type Geoip } from "./geoip.ts";
import { createAccessLog } from "#edge/logs/access-log.ts";
import { createResolver } from "#edge/origin/resolver.ts";
import { createTimers, type Timers } from "#kernel/timers.ts";
import { createTlsFront } from "#edge/tls/sni-router.ts";
import { createUpstreamPools } from "#edge/origin/upstream-pool.ts";
import { drainConnections, untilEmpty } from "#wire/connections/http/drain-connections.ts";
import type { EdgePorts } from "#edge/stages/zone-settings.ts";
import { useRuleMaterial } from "#rules/managed/rule-material.ts";
import { createCounterTable } from "#rules/rate-limit/counter-table.ts";
import { shareCounters } from "#rules/rate-limit/shared-counters.ts";
import type { TlsPolicy } from "#edge/tls/context-table.ts";
import { createPageShield } from "#edge/page-shield/page-shield.ts";
import { createSightings, type Sightings } from "#edge/page-shield/sightings.ts";
import { createZones, type Serving, type Zones } from "#edge/zones/zones.ts";

export interface EdgeDeps {
  readonly replica: Replica;
  readonly events: RequestSink;
  readonly tap: Pick<BodyTee, "takes" | "begin">;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  /** Null: Node.js handles every connection. */
  readonly socketCalls: SocketCalls | null;
  readonly sealer: Sealer;
  /** 32 bytes with which all threads sign passed challenges. */
  readonly clearanceKey: Uint8Array;
  readonly config: EdgeConfig;
  /** Limits that other machines count, too. */
  readonly sharedLimits: SharedLimits;
  /** PEM certificates of authorities that are trusted for origins besides public ones: the installation's own. */
  readonly originRoots: readonly string[];
  /** Gets the connections of tunnels' connectors whenever one has changed. */
  onTunnels(links: readonly TunnelLink[]): void;
  /** Gets what pages have loaded and set that was not reported within the last minutes. */
  onSightings(sightings: readonly PageSighting[]): void;
  /** Gets unexpected errors, which never end a worker. */
  onError(error: unknown): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** The HTTP(S) data plane of one thread. */
export interface Edge {
  /** Opens the listeners and returns their ports; those of further addresses have names as `http+2`. */
  listen(): Promise<EdgePorts & Readonly<Record<string, number>>>;
  /** Descriptors of the listeners; empty where Node.js accepts. */
  sockets(): ListeningSockets;
  /** Accepts no more connections, gives requests under way this time to finish, then closes the rest. `idleMs`: see DrainTimes. */
  close(timeoutMs: number, idleMs?: number): Promise<void>;
  /** Sets the port of another plane. */
  neighbourAt(name: PeerName, port: number): void;
  /** Replaces the keys of session tickets. */
  useTicketKeys(keys: TicketKeys): void;
  /** Replaces the GeoIP databases. */
  usePlaces(databases: GeoipDatabases): void;
  /** Replaces the contents of the operator's files for rules. */
  useRuleMaterial(material: RuleMaterial): void;
}

export function createEdge(deps: EdgeDeps): Edge {
  const { config, metrics } = deps;
  const doh = createDohRoute(config.doh);
  const leftOut = metrics.counter("selvedge_edge_rules_invalid_total", "Rules skipped because they failed to compile");
  const ruleLeftOut: OnInvalidRule = (rule) => {
    leftOut.value++;
    deps.warn("skipping a rule that failed to compile", rule);
  };
  const counters = createCounterTable(config.counters, machineMs);
  const isShared = config.sharedCounters !== undefined;
  const zones = createZones(deps.replica, ruleLeftOut, isShared ? shareCounters(counters, deps.sharedLimits) : counters);
  const state: EdgeState = { closing: false, ports: { http: config.httpPort, https: config.httpsPort } };
  const places = createGeoip(
    config.places,
    metrics.counter("selvedge_edge_geoip_errors_total", "GeoIP lookups that failed because of a corrupt database"),
  );
  const gateways = createGatewayRoute({ replica: deps.replica, zones, port: config.gatewayPort });
  const images = createImageRoute(config.imagesPort);
  const timers = createTimers(deps.clock);
  const tunnels = createEdgeTunnels({
    ...{ replica: deps.replica, sealer: deps.sealer, clock: deps.clock, timers, metrics, report: deps.onTunnels },
    threads: config.workers,
    helloTimeoutMs: config.limits.headTimeoutMs,
  });
  const sightings = createSightings(deps.clock, deps.onSightings);
  const context = createContext(deps, { zones, doh, gateways, images, places, timers, tunnels, sightings }, state);
  const { connections } = context;
  const open = metrics.gauge("selvedge_edge_connections", "Open visitor connections");
  const certificates = createCertificates({
    replica: deps.replica,
    sealer: deps.sealer,
    contextsMax: config.limits.contextsMax,
    keysNotOpened: metrics.counter(
      "selvedge_edge_certificate_keys_not_opened_total",
      "Certificates whose private key could not be decrypted",
    ),
    zoneIdOf: (serverName) => zones.serving(serverName)?.zone.entry.id ?? null,
    clock: deps.clock,
  });
  const proxies = createCidrSet(config.proxyProtocolFrom);
  const admission = createConnectionPlaces({
    metrics,
    clock: deps.clock,
    listener: "edge",
    ...config.limits,
    isShared: (address) => context.visitors?.trusts(address) === true,
  });
  const listeners = new Map<string, Listener>();

  const serve = (transport: Transport, client: End, arrival: ConnectionInfo, protocol: string): void => {
    admission.serves(client, transport);
    welcome(context, transport, arrival, protocol);
    open.value = connections.size;
    transport.whenClosed(() => (open.value = connections.size));
  };
  const acceptTunnel = (transport: Transport, client: End): void => {
    // Never idle, since visitors may send requests through it at any time.
    admission.serves(client, transport);
    tunnels.accept(transport, client);
  };
  const tlsFront = createTlsFront({
    certificates,
    policyFor: (serverName) => tlsPolicyOf(zones.serving(serverName)),
    limits: config.limits,
    timers,
    handshakesFailed: metrics.counter("selvedge_edge_tls_handshakes_failed_total", "Failed TLS handshakes"),
    namesRefused: metrics.counter("selvedge_edge_tls_names_refused_total", "TLS handshakes refused because no certificate covers the name"),
    secure: deps.socketCalls?.secure ?? null,
    onSecure: (transport, client, { version, cipher, protocol }) =>
      protocol === TUNNEL_ALPN
        ? acceptTunnel(transport, client)
        : serve(transport, client, { ...endsOf(transport, client), scheme: "https", tls: { version, cipher } }, protocol),
  });
  tlsFront.useTicketKeys(config.ticketKeys);

  const servePlain = (transport: Transport, client: End): void =>
    serve(transport, client, { ...endsOf(transport, client), scheme: "http", tls: null }, "");
  const listenFor = async (scheme: "http" | "https", index: number, { host, port, onlyIpv6 }: ListenPlace): Promise<number> => {
    const name = socketName(scheme, index);
    const listener = await openListener({
      // TLS connections stay with Node.js if it does their TLS.
      loop: scheme === "http" || deps.socketCalls?.secure ? context.loop : null,
      onConnection: scheme === "http" ? servePlain : tlsFront.accept,
      ...{ host, port, onlyIpv6 },
      fd: config.sockets?.[name],
      reusePort: config.reusePort,
      admission,
      proxies,
      proxyHeaderTimeoutMs: config.limits.headTimeoutMs,
    });
    listeners.set(name, listener);
    return listener.port;
  };

  return {
    neighbourAt: (name, port) => ({ doh, gateway: gateways, images })[name].moveTo(port),
    useTicketKeys: tlsFront.useTicketKeys,
    usePlaces: places.use,
    useRuleMaterial: (material) => {
      useRuleMaterial(material);
      zones.recompile()?.catch(deps.onError);
    },
    listen: async () => {
      const { host, onlyIpv6, further = [] } = config;
      const first = { host, ...(onlyIpv6 === undefined ? {} : { onlyIpv6 }) };
      const http = await listenFor("http", 0, { ...first, port: config.httpPort });
      const https = await listenFor("https", 0, { ...first, port: config.httpsPort });
      state.ports = { http, https };
      for (const [i, places] of further.entries()) {
        await listenFor("http", i + 1, { ...places.http, port: places.http.port || http });
        await listenFor("https", i + 1, { ...places.https, port: places.https.port || https });
      }
      return { ...state.ports, ...Object.fromEntries(Array.from(listeners, ([name, { port }]) => [name, port])) };
    },
    sockets: () => Object.fromEntries(Array.from(listeners).flatMap(([name, { fd }]) => (fd === undefined ? [] : [[name, fd]]))),
    close: async (timeoutMs, idleMs = 0) => {
      state.closing = true;
      for (const listener of listeners.values()) listener.close();
      tunnels.drain();
      await drainConnections(connections, idleMs);
      tlsFront.close();
      context.pools.close();
      await untilEmpty(connections, timeoutMs);
      for (const connection of [...connections]) connection.destroy();
      // Their requests write their rows when they have closed.
      await untilEmpty(connections, DESTROYED_WITHIN_MS);
      tunnels.close();
      sightings.close();
      timers.close();
      context.minifier.close();
      await context.cache.close();
    },
  };
}

/** State that changes while an edge runs. */
interface EdgeState {
  closing: boolean;
  ports: EdgePorts;
}

/** The data that requests are looked up in. */
interface Lookups {
  readonly zones: Zones;
  readonly doh: DohRoute;
  readonly gateways: GatewayRoute;
  readonly images: ImageRoute;
  readonly places: Geoip;
  readonly timers: Timers;
  readonly tunnels: EdgeTunnels;
  readonly sightings: Sightings;
}

function createContext(
  deps: EdgeDeps,
  { zones, doh, gateways, images, places, timers, tunnels, sightings }: Lookups,
  state: EdgeState,
): EdgeContext {
  const { clock, config, metrics } = deps;
  const { limits } = config;
  const internalErrors = metrics.counter(
    "selvedge_edge_internal_errors_total",
    "Connections closed because of an internal error of the edge",
  );
  const report = (error: unknown): void => {
    internalErrors.value++;
    deps.onError(error);
  };
  const lookUp = createLookUp({ hosts: createHostsFile("/etc/hosts"), servers: config.resolvers, timeoutMs: limits.resolver.timeoutMs });
  const health = createOriginHealth({ clock, metrics, retryMs: limits.originRetryMs });
  const tlsClient = createOriginTlsClient({ clock, roots: deps.originRoots });
  const clearance = createClearance({ key: deps.clearanceKey, clock, vendorPrefix: config.vendorPrefix });
  const challenges = createChallenges(clearance, config.vendorPrefix);
  const codecs = createCodecs(metrics);
  const minifier = createMinifier(metrics);
  const heldBodies = createRequestBuffers(limits.ruleBodyBytesMax, limits.ruleBodyMemoryBytesMax, metrics);
  const pipeline = createPipeline({
    codecs,
    minifier,
    ...{ zones, doh, gateways, images, clearance, challenges, places, tap: deps.tap },
    acmeChallenges: createAcmeChallenges(deps.replica),
    pageShield: createPageShield(sightings),
    loopName: config.vendorPrefix,
    ports: () => state.ports,
    memoryOf: heldBodies.share,
    report,
  });
  const origins = createOriginSelector({
    zones,
    resolve: createResolver({ lookUp, clock, metrics, limits: limits.resolver }),
    allows: createAddressPolicy(
      [config.host, ...(config.further ?? []).map(({ http }) => http.host)],
      config.originAllow,
      config.operatorPorts,
    ),
    health,
    tunnels,
    originPort: config.originPort,
  });
  const originHeads = createOriginHeads(config.vendorPrefix);
  const loop = deps.socketCalls === null ? null : new SocketLoop(deps.socketCalls, report);
  const pools = createUpstreamPools({ limits, timers, loop, tunnels, health, tlsClient, metrics, report });
  const cache = createEdgeCache({
    replica: deps.replica,
    clock,
    metrics,
    timers,
    originHeads,
    pipeline,
    launch: createLaunch({ pools, origins, report }),
    vendorPrefix: config.vendorPrefix,
    memoryBytesMax: config.cacheMemoryBytesMax,
    disk: config.cacheDisk,
    onError: report,
    waitMs: limits.cacheWaitMs,
  });
  return {
    limits,
    clock,
    timers,
    visitors: createClientAddresses(config.trustedProxies),
    loop,
    pipeline: {
      request: pipeline.request,
      readsBodyLater: pipeline.readsBodyLater,
      substitute: (exchange, buffer, head, framing) => {
        const page = pipeline.substitute(exchange, buffer, head, framing);
        if (page !== null && !(page instanceof HeldResponse)) cache.observe(exchange, buffer, head);
        return page;
      },
      substituteHeld: (exchange, held) => {
        const page = pipeline.substituteHeld(exchange, held);
        if (page !== null) cache.observe(exchange, held.buffer, held.head);
        return page;
      },
      response: (exchange, buffer, head, framing) => {
        cache.observe(exchange, buffer, head);
        return pipeline.response(exchange, buffer, head, framing);
      },
    },
    origins,
    originHeads,
    pools,
    cache,
    windows: new WindowBudget(limits.http2Windows),
    heldBodies,
    codecs,
    minifier,
    ray: rayField(config.vendorPrefix),
    deadlines: limits,
    http2: sessionLimits(limits),
    connections: new Set(),
    isDraining: () => state.closing,
    record: createAccessLog({ events: deps.events, clock, metrics }),
    report,
  };
}

/** Both ends of a connection, as its requests see them. */
function endsOf(transport: Transport, client: End): Pick<ConnectionInfo, "clientIp" | "clientPort" | "serverIp" | "serverPort"> {
  const { address, port } = transport.localEnd();
  return { clientIp: client.address, clientPort: client.port, serverIp: address, serverPort: port };
}

/** Serves the protocol that the TLS handshake agreed on; without one, HTTP/1.x. */
function welcome(context: EdgeContext, transport: Transport, arrival: ConnectionInfo, protocol: string): void {
  if (protocol === "h2") serveHttp2(context, transport, arrival);
  else serveHttp1(context, transport, arrival);
}

const sessionLimits = (limits: EdgeLimits): SessionLimits => ({
  streamsMax: limits.http2StreamsMax,
  windowBytes: limits.http2WindowBytes,
  windowBytesMax: limits.http2WindowBytesMax,
  headBytesMax: limits.http2HeadBytesMax,
  fieldsMax: limits.http2FieldsMax,
  resetsMax: limits.http2ResetsMax,
  resetsPerSecond: limits.http2ResetsPerSecond,
  allowsWebSockets: true,
});

const DESTROYED_WITHIN_MS = 500;

/** Settings of a custom hostname override those of its zone. */
function tlsPolicyOf(serving: Serving | null): TlsPolicy {
  const settings = serving?.zone.settings ?? EDGE_SETTINGS_DEFAULTS;
  const own = serving?.hostname?.tls;
  return own === undefined ? settings : { ...settings, ...own };
}
