import { createCidrSet } from "#kernel/net/cidr.ts";
import type { ListeningSockets, RuleMaterial, PeerName, TicketKeys } from "#kernel/process/worker-protocol.ts";
import { TUNNEL_ALPN } from "#wire/tls/tunnel-protocol.ts";
import { createEdgeTunnels } from "#edge/tunnels/edge-tunnels.ts";
import { machineMs } from "#kernel/clock.ts";
import { createCertificates } from "#snapshot/certificates.ts";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import { type ListenPlace, socketName } from "#kernel/net/listen-place.ts";
import { createConnectionPlaces } from "#kernel/process/connection-places.ts";
import { serveHttp1 } from "#edge/http1/http1-visitor.ts";
import type { EdgeContext } from "#edge/pipeline/context.ts";
import type { End, Transport } from "#wire/connections/transport/transport.ts";
import { createDohRoute } from "#edge/origin/doh-route.ts";
import { createGatewayRoute } from "#edge/origin/gateway-route.ts";
import { createImageRoute } from "#edge/origin/image-route.ts";
import type { OnInvalidRule } from "#edge/zones/entry-points.ts";
import type { ConnectionInfo } from "#edge/exchange/exchange.ts";
import { serveHttp2 } from "#edge/http2/http2-visitor.ts";
import { type Listener, openListener } from "#edge/listen/listener.ts";
import { createGeoip, type GeoipDatabases } from "./geoip.ts";
import { createTimers } from "#kernel/timers.ts";
import { createTlsFront } from "#edge/tls/sni-router.ts";
import { drainConnections, untilEmpty } from "#wire/connections/http/drain-connections.ts";
import type { EdgePorts } from "#edge/stages/zone-settings.ts";
import { useRuleMaterial } from "#rules/managed/rule-material.ts";
import { createCounterTable } from "#rules/rate-limit/counter-table.ts";
import { shareCounters } from "#rules/rate-limit/shared-counters.ts";
import type { TlsPolicy } from "#edge/tls/context-table.ts";
import { createSightings } from "#edge/page-shield/sightings.ts";
import { createZones, type Serving } from "#edge/zones/zones.ts";
import { createVisitorKeys } from "./visitor-keys.ts";
import { createContext, type EdgeDeps, type EdgeState } from "./edge-context.ts";

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
  const visitorKeys = createVisitorKeys(deps);
  const context = createContext(deps, { zones, doh, gateways, images, places, timers, tunnels, sightings, visitorKeys }, state);
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
  let { ticketKeys } = config;
  const useTicketKeys = (): void => tlsFront.useTicketKeys(visitorKeys.tickets(ticketKeys));
  visitorKeys.onChanged(useTicketKeys);
  useTicketKeys();

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
    useTicketKeys: (keys) => {
      ticketKeys = keys;
      useTicketKeys();
    },
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

const DESTROYED_WITHIN_MS = 500;

/** Settings of a custom hostname override those of its zone. */
function tlsPolicyOf(serving: Serving | null): TlsPolicy {
  const settings = serving?.zone.settings ?? EDGE_SETTINGS_DEFAULTS;
  const own = serving?.hostname?.tls;
  return own === undefined ? settings : { ...settings, ...own };
}
