import type { MessagePort } from "node:worker_threads";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "#kernel/clock.ts";
import { createCounterMemory } from "#rules/rate-limit/counter-table.ts";
import { EDGE_ALPN, EDGE_LIMITS, type EdgeConfig, type EdgeLimits } from "#edge/config.ts";
import type { RetentionLimits } from "#events/retention.ts";
import { DEFAULT_RETENTION, logSegmentsOf } from "#events/writer-config.ts";
import { GATEWAY_LIMITS, type GatewayConfig } from "#gateway/config.ts";
import { NAMESERVER_LIMITS, type NameserverConfig } from "#nameserver/config.ts";
import { createRateTable } from "#nameserver/rate-limit.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import type { Publisher } from "#snapshot/publisher.ts";
import type { Config } from "./config.ts";
import type { Log } from "./log.ts";
import { createPlaceFiles } from "./place-files.ts";
import { createTicketKeyRing } from "./ticket-keys.ts";
import { type Bound, channel, startPlaneWorker, type PlaneWorker } from "./plane-worker.ts";

export interface Planes {
  readonly workers: readonly PlaneWorker[];
  readonly ports: { readonly dns: number; readonly dot: number; readonly http: number; readonly https: number; readonly gateway: number };
  /** Stops taking requests, finishes those under way, then writes what events are left. */
  stop(timeoutMs: number): Promise<void>;
}

export interface PlanesDeps {
  readonly config: Config;
  /** PEM texts for the plane that carries credentials. */
  readonly tls: Pick<GatewayConfig, "tls">;
  readonly publisher: Publisher;
  readonly log: Log;
  readonly files: PlaneFiles;
  /** Told of each secondary zone whose primary has announced a change. */
  onNotified(zoneId: string, from: string): void;
  /** Told of each zone that other servers fetch whose apex has other addresses. */
  onReaddressed(zoneId: string, addresses: string): void;
}

/** What threads find on disk. */
export interface PlaneFiles {
  readonly sealKey: string;
  readonly localRoot: string;
  readonly lastGood: string;
  readonly events: string;
  readonly spendJournal: string;
  /** Directory with one for each edge thread. */
  readonly cache: string;
}

export const planeFiles = (dataDir: string): PlaneFiles => ({
  sealKey: join(dataDir, "seal.key"),
  localRoot: join(dataDir, "ca.pem"),
  lastGood: join(dataDir, "snapshot.last-good"),
  events: join(dataDir, "events.db"),
  spendJournal: join(dataDir, "gateway", "spend.journal"),
  cache: join(dataDir, "cache"),
});

/** Time for a thread that only writes down what it has been given. */
const SINK_STOP_MS = 5_000;

/**
 * Starts every thread at once: what is sent to one that still loads waits in its port. They stop in the order in which
 * they feed each other, so that nothing is lost: first those that serve, then detection, then the writer of events.
 * When one cannot start, the others are stopped and the error is thrown.
 */
export async function startPlanes(deps: PlanesDeps): Promise<Planes> {
  const { config } = deps;
  await removeUnusedCaches(deps);
  const serving: PlaneWorker[] = [];
  const edges: PlaneWorker[] = [];
  const rateTable = createRateTable();
  const counters = createCounterMemory(config.edge.rate_limit_keys_max, systemClock.nowMs());
  /** 0 until a nameserver listens; edges that have started by then are told. */
  let dohPort = 0;
  const ticketKeys = createTicketKeyRing((keys) => edges.forEach((edge) => edge.useTicketKeys(keys)));
  const places = createPlaceFiles({
    paths: config.edge.place_databases,
    log: deps.log,
    onChanged: (databases) => edges.forEach((edge) => edge.usePlaces(databases)),
  });
  const writer = startPlaneWorker({
    name: "events",
    script: new URL("../events/writer.ts", import.meta.url),
    log: deps.log,
    connect: () => ({ workerData: { path: deps.files.events, ports: [], retention: retentionOf(config) }, transfer: [] }),
    onRestart: () => [detector, ...serving].forEach((worker) => worker.reconnect("events", handOver(writer))),
  });
  const detector = startPlaneWorker({
    name: "detector",
    script: new URL("../edge/detection/worker.ts", import.meta.url),
    log: deps.log,
    connect: () => {
      const events = handOver(writer);
      const feed = channel();
      deps.publisher.attach(createMessagePortFeed(feed.near));
      const data = { tap: [], events, feed: feed.far, lastGoodPath: deps.files.lastGood, sealKeyPath: deps.files.sealKey };
      return { workerData: data, transfer: [events, feed.far] };
    },
    onRestart: () => edges.forEach((worker) => worker.reconnect("detector", handOver(detector))),
  });
  const stop = async (timeoutMs: number): Promise<void> => {
    ticketKeys.stop();
    places.stop();
    await Promise.all(serving.map((worker) => worker.stop(timeoutMs)));
    await detector.stop(SINK_STOP_MS);
    await writer.stop(SINK_STOP_MS);
  };

  const serve = (name: string, script: string, ports: () => Ports, planeConfig: (bound: Bound) => object): PlaneWorker => {
    const worker = startServingWorker(deps, { name, script, ports, planeConfig });
    serving.push(worker);
    return worker;
  };
  const startEdge = (name: string, siblings: Bound): PlaneWorker => {
    const ports = (): Ports => ({ events: handOver(writer), tap: handOver(detector) });
    const worker = serve(name, "../edge/worker.ts", ports, (bound) => ({
      ...edgeConfig(config, { ...siblings, ...bound }, dohPort),
      cacheDisk: cacheDisk(deps, name),
      ticketKeys: ticketKeys.keys(),
      places: places.databases(),
      counters,
    }));
    edges.push(worker);
    return worker;
  };
  try {
    const [dns, edge, gateway] = await Promise.all([
      startSharing("nameserver", config.dns.workers, (name, siblings) =>
        serve(
          name,
          "../nameserver/worker.ts",
          () => ({ events: handOver(writer) }),
          (bound) => nameserverConfig(config, { ...siblings, ...bound }, rateTable),
        ),
      ).then((bound) => {
        dohPort = portOf(bound, "doh");
        for (const edge of edges) edge.introduce("doh", dohPort);
        return bound;
      }),
      startSharing("edge", config.edge.workers, startEdge),
      serve(
        "gateway",
        "../gateway/worker.ts",
        () => ({ events: handOver(writer) }),
        (bound) => gatewayConfig(deps, bound),
      ).listening,
      detector.listening,
      writer.listening,
    ]);
    const ports = {
      dns: portOf(dns, "udp"),
      dot: portOf(dns, "dot"),
      http: portOf(edge, "http"),
      https: portOf(edge, "https"),
      gateway: portOf(gateway, "http"),
    };
    return { workers: [writer, detector, ...serving], ports, stop };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

type Ports = Readonly<Record<string, MessagePort>>;

interface ServingSpec {
  readonly name: string;
  readonly script: string;
  /** Ports to the threads that this one sends to. */
  ports(): Ports;
  /** `bound`: the ports that a start before this one found. */
  planeConfig(bound: Bound): object;
}

/** A thread that answers clients from its copy of the snapshot. */
function startServingWorker(
  { publisher, log, files, onNotified, onReaddressed }: PlanesDeps,
  { name, script, ports, planeConfig }: ServingSpec,
): PlaneWorker {
  return startPlaneWorker({
    name,
    script: new URL(script, import.meta.url),
    log,
    onNotified,
    onReaddressed,
    connect: (bound) => {
      const feed = channel();
      publisher.attach(createMessagePortFeed(feed.near));
      const transferred: Ports = { feed: feed.far, ...ports() };
      const data = {
        name,
        config: planeConfig(bound),
        lastGoodPath: files.lastGood,
        sealKeyPath: files.sealKey,
        localRootPath: files.localRoot,
        logSegments: logSegmentsOf(files.events),
      };
      return { workerData: { ...data, ...transferred }, transfer: Object.values(transferred) };
    },
  });
}

/** Several threads on one port: the first finds the port, the others join it. */
async function startSharing(name: string, count: number, start: (name: string, siblings: Bound) => PlaneWorker): Promise<Bound> {
  const bound = await start(`${name}-1`, {}).listening;
  await Promise.all(Array.from({ length: count - 1 }, (_, i) => start(`${name}-${i + 2}`, bound).listening));
  return bound;
}

/** `rateTable`: one for all threads, among which the kernel spreads a network's questions. */
const nameserverConfig = (config: Config, bound: Bound, rateTable: SharedArrayBuffer): NameserverConfig => ({
  host: config.dns.host,
  port: bound["udp"] ?? config.dns.port,
  reusePort: config.dns.workers > 1,
  edgeAddresses: edgeAddresses(config),
  edgeProtocols: { alpn: EDGE_ALPN, port: config.https.port },
  nsid: config.dns.nsid,
  rateLimit: {
    perSecond: config.dns.rate_limit_per_second,
    slip: config.dns.rate_limit_slip,
    exempt: config.dns.rate_limit_exempt,
    table: rateTable,
  },
  dot: { port: bound["dot"] ?? config.dns.tls_port },
  doh: { port: bound["doh"] ?? 0 },
  resolvers: config.dns.resolvers,
  limits: NAMESERVER_LIMITS,
});

const edgeConfig = (
  config: Config,
  bound: Bound,
  dohPort: number,
): Omit<EdgeConfig, "ticketKeys" | "cacheDisk" | "counters" | "places"> => ({
  host: config.edge.host,
  httpPort: bound["http"] ?? config.http.port,
  httpsPort: bound["https"] ?? config.https.port,
  reusePort: config.edge.workers > 1,
  vendorPrefix: config.vendor.prefix,
  originPort: config.edge.origin_port,
  originAllow: config.edge.origin_allow,
  resolvers: config.dns.resolvers,
  doh: { hosts: config.dns.name_servers, port: dohPort },
  proxyProtocolFrom: config.edge.proxy_protocol_from,
  cacheMemoryBytesMax: Math.floor(config.edge.cache_memory_bytes_max / config.edge.workers),
  limits: edgeLimits(config),
});

const GATEWAY_CACHE = "gateway";

/** Threads share nothing on disk, so that none waits for another. */
const cacheDisk = ({ config: { edge }, files }: PlanesDeps, name: string): EdgeConfig["cacheDisk"] =>
  edge.cache_disk_bytes_max === 0
    ? null
    : { directory: join(files.cache, name), bytesMax: Math.floor(edge.cache_disk_bytes_max / edge.workers) };

/** What threads left behind that there are no more would count for nobody. */
async function removeUnusedCaches({ config, files }: PlanesDeps): Promise<void> {
  const used = new Set(Array.from({ length: config.edge.cache_disk_bytes_max === 0 ? 0 : config.edge.workers }, (_, i) => `edge-${i + 1}`));
  if (config.gateway.cache_disk_bytes_max > 0) used.add(GATEWAY_CACHE);
  const names = await readdir(files.cache).catch((): string[] => []);
  for (const name of names) if (!used.has(name)) await rm(join(files.cache, name), { recursive: true, force: true });
}

/** The operator's limits, and of those that count something this thread's share: the kernel spreads connections evenly. */
const edgeLimits = ({ edge }: Config): EdgeLimits => ({
  ...EDGE_LIMITS,
  connectionsMax: Math.ceil(edge.connections_max / edge.workers),
  connectionsPerAddressMax: Math.ceil(edge.connections_per_address_max / edge.workers),
  headTimeoutMs: edge.head_timeout_seconds * 1000,
  idleTimeoutMs: edge.idle_timeout_seconds * 1000,
  bodyTimeoutMs: edge.body_timeout_seconds * 1000,
  bodyBytesMin: (edge.body_bytes_per_second_min * EDGE_LIMITS.bodyWindowMs) / 1000,
  requestBodyBytesMax: edge.request_body_bytes_max,
  ruleBodyBytesMax: edge.rule_body_bytes_max,
  ruleBodyMemoryBytesMax: Math.floor(edge.rule_body_memory_bytes_max / edge.workers),
  connectTimeoutMs: edge.origin_connect_timeout_seconds * 1000,
  originConnectionsMax: Math.ceil(edge.origin_connections_max / edge.workers),
  responseTimeoutMs: edge.response_timeout_seconds * 1000,
  tunnelIdleTimeoutMs: edge.tunnel_idle_timeout_seconds * 1000,
});

function guardrailModel({ gateway }: Config): Pick<GatewayConfig, "guardrail"> {
  const [provider = "", model = ""] = gateway.guardrail_model.split(/\/(.*)/s);
  return model === "" ? {} : { guardrail: { provider, model, key: gateway.guardrail_key } };
}

const gatewayConfig = ({ config, tls, files }: PlanesDeps, bound: Bound): GatewayConfig => ({
  host: config.gateway.host,
  port: bound["http"] ?? config.gateway.port,
  vendorPrefix: config.vendor.prefix,
  providers: config.gateway.providers,
  ...guardrailModel(config),
  ...tls,
  ...(config.gateway.cache_disk_bytes_max === 0
    ? {}
    : { cacheDisk: { directory: join(files.cache, GATEWAY_CACHE), bytesMax: config.gateway.cache_disk_bytes_max } }),
  providerAllow: config.gateway.provider_allow,
  spendJournal: files.spendJournal,
  limits: { ...GATEWAY_LIMITS, cacheMemoryBytesMax: config.gateway.cache_memory_bytes_max },
});

/** What the nameserver answers for proxied names. */
export const edgeAddresses = (config: Config): readonly string[] =>
  config.edge.addresses.length > 0 ? config.edge.addresses : [config.edge.host];

const DAY_MS = 86_400_000;

const retentionOf = ({ events }: Config): RetentionLimits => ({
  ...DEFAULT_RETENTION,
  ageMs: events.rows_kept_days * DAY_MS,
  bytes: events.bytes_max,
  minutesAgeMs: events.minutes_kept_days * DAY_MS,
  hoursAgeMs: events.hours_kept_days * DAY_MS,
});

/** One end of a new channel goes to `taker`, the other one to the thread that will send. */
function handOver(taker: PlaneWorker): MessagePort {
  const { near, far } = channel();
  taker.attach(near);
  return far;
}

function portOf(bound: Bound, transport: string): number {
  const port = bound[transport];
  if (port === undefined) throw new Error(`a plane did not say on which port it serves ${transport}`);
  return port;
}
