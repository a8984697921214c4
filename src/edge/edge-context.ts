import { createMessageTurns } from "#kernel/process/message-turns.ts";
import { REQUESTS_AHEAD_PER_TICK } from "#wire/connections/http/client-owner.ts";
import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import { createClientAddresses } from "#kernel/net/client-addresses.ts";
import type { PageSighting } from "#kernel/process/page-sighting.ts";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import type { EdgeTunnels } from "#edge/tunnels/edge-tunnels.ts";
import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { RequestSink } from "#events/rows/rows.ts";
import type { Replica } from "#snapshot/feed.ts";
import { createAddressPolicy } from "#kernel/net/address-policy.ts";
import type { SessionLimits } from "#wire/http2/session.ts";
import { WindowBudget } from "#wire/http2/window-budget.ts";
import { createEdgeCache } from "./cache/cache.ts";
import { createLaunch } from "#edge/pipeline/origin-fetch.ts";
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
import type { DohRoute } from "#edge/origin/doh-route.ts";
import type { GatewayRoute } from "#edge/origin/gateway-route.ts";
import type { ImageRoute } from "#edge/origin/image-route.ts";
import { rayField } from "#edge/http/ray-field.ts";
import { HeldResponse } from "#edge/exchange/held-response.ts";
import { createRequestBuffers } from "#edge/exchange/request-buffer.ts";
import { createHostsFile } from "#edge/origin/hosts-file.ts";
import { createLookUp } from "#edge/origin/dns-client.ts";
import { createOriginHeads } from "#edge/origin/origin-head.ts";
import { createOriginHealth } from "#edge/origin/origin-health.ts";
import { createOriginTlsClient } from "#edge/origin/origin-tls.ts";
import { createOriginSelector } from "#edge/origin/origin.ts";
import { createPipeline } from "#edge/pipeline/pipeline.ts";
import type { Geoip } from "./geoip.ts";
import { createAccessLog } from "#edge/logs/access-log.ts";
import { createResolver } from "#edge/origin/resolver.ts";
import type { Timers } from "#kernel/timers.ts";
import { createUpstreamPools } from "#edge/origin/upstream-pool.ts";
import type { EdgePorts } from "#edge/stages/zone-settings.ts";
import { createPageShield } from "#edge/page-shield/page-shield.ts";
import type { Sightings } from "#edge/page-shield/sightings.ts";
import type { VisitorKeys } from "./visitor-keys.ts";
import type { Zones } from "#edge/zones/zones.ts";

export interface EdgeDeps {
  readonly replica: Replica;
  readonly events: RequestSink;
  readonly tap: Pick<BodyTee, "takes" | "begin">;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  /** Null: Node.js handles every connection. */
  readonly socketCalls: SocketCalls | null;
  readonly sealer: Sealer;
  /** 32 bytes with which all threads sign passed challenges while edges of several machines share no keys. */
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

/** State that changes while an edge runs. */
export interface EdgeState {
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
  readonly visitorKeys: VisitorKeys;
}

/** Everything that the connections of one thread share. */
export function createContext(
  deps: EdgeDeps,
  { zones, doh, gateways, images, places, timers, tunnels, sightings, visitorKeys }: Lookups,
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
  const clearance = createClearance({ keys: visitorKeys.clearance, clock, vendorPrefix: config.vendorPrefix });
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
    turns: createMessageTurns(REQUESTS_AHEAD_PER_TICK),
    isDraining: () => state.closing,
    record: createAccessLog({ events: deps.events, clock, metrics }),
    report,
  };
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
