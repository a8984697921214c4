import type { MessagePort } from "node:worker_threads";
import { join } from "node:path";
import { EDGE_LIMITS, type EdgeConfig } from "#edge/config.ts";
import { DEFAULT_RETENTION } from "#events/writer-config.ts";
import { GATEWAY_LIMITS, type GatewayConfig } from "#gateway/config.ts";
import { NAMESERVER_LIMITS, type NameserverConfig } from "#nameserver/config.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import type { Publisher } from "#snapshot/publisher.ts";
import type { Config } from "./config.ts";
import type { Log } from "./log.ts";
import { channel, startPlaneWorker, type PlaneWorker } from "./plane-worker.ts";

export interface Planes {
  readonly workers: readonly PlaneWorker[];
  readonly ports: { readonly dns: number; readonly http: number; readonly https: number; readonly gateway: number };
  /** Stops taking requests, finishes those under way, then writes what events are left. */
  stop(timeoutMs: number): Promise<void>;
}

export interface PlanesDeps {
  readonly config: Config;
  readonly publisher: Publisher;
  readonly log: Log;
  readonly files: PlaneFiles;
}

/** What threads find on disk. */
export interface PlaneFiles {
  readonly sealKey: string;
  readonly lastGood: string;
  readonly events: string;
}

export const planeFiles = (dataDir: string): PlaneFiles => ({
  sealKey: join(dataDir, "seal.key"),
  lastGood: join(dataDir, "snapshot.last-good"),
  events: join(dataDir, "events.db"),
});

/** Time for a thread that only writes down what it has been given. */
const SINK_STOP_MS = 5_000;

/**
 * Starts every thread: first those that take (events, detection), then those that serve, so that nothing a plane sends
 * is lost at the start; they stop in the reverse order.
 */
export async function startPlanes(deps: PlanesDeps): Promise<Planes> {
  const writer = await startPlaneWorker({
    name: "events",
    script: new URL("../events/writer.ts", import.meta.url),
    log: deps.log,
    connect: () => ({ workerData: { path: deps.files.events, ports: [], retention: DEFAULT_RETENTION }, transfer: [] }),
  });
  const eventsPort = (): MessagePort => handOver(writer);
  const detector = await startPlaneWorker({
    name: "detector",
    script: new URL("../edge/detection/worker.ts", import.meta.url),
    log: deps.log,
    connect: () => {
      const events = eventsPort();
      return { workerData: { tap: [], events }, transfer: [events] };
    },
  });

  const serving = await startServing(deps, eventsPort, () => handOver(detector));
  const [nameserver] = serving.nameservers;
  const [edge] = serving.edges;
  return {
    workers: [writer, detector, ...serving.all],
    ports: {
      dns: portOf(nameserver, "udp"),
      http: portOf(edge, "http"),
      https: portOf(edge, "https"),
      gateway: portOf(serving.gateway, "http"),
    },
    stop: async (timeoutMs) => {
      await Promise.all(serving.all.map((worker) => worker.stop(timeoutMs)));
      await detector.stop(SINK_STOP_MS);
      await writer.stop(SINK_STOP_MS);
    },
  };
}

interface Serving {
  readonly nameservers: readonly PlaneWorker[];
  readonly edges: readonly PlaneWorker[];
  readonly gateway: PlaneWorker;
  readonly all: readonly PlaneWorker[];
}

/** Ports by transport that a thread must take because it, or a thread beside it, has them already. */
type Bound = Readonly<Record<string, number>>;

async function startServing({ config, publisher, log, files }: PlanesDeps, eventsPort: () => MessagePort, tapPort: () => MessagePort): Promise<Serving> {
  const start = (name: string, script: string, planeConfig: (bound: Bound) => unknown, siblings: Bound, taps: boolean): Promise<PlaneWorker> =>
    startPlaneWorker({
      name,
      script: new URL(script, import.meta.url),
      log,
      connect: (own) => {
        const feed = channel();
        publisher.attach(createMessagePortFeed(feed.near));
        const ports = { feed: feed.far, events: eventsPort(), ...(taps ? { tap: tapPort() } : {}) };
        const paths = { lastGoodPath: files.lastGood, sealKeyPath: files.sealKey };
        return { workerData: { name, config: planeConfig({ ...siblings, ...own }), ...paths, ...ports }, transfer: Object.values(ports) };
      },
    });
  const [nameservers, edges, gateway] = await Promise.all([
    startSharing("nameserver", config.dns.workers, (name, bound) => start(name, "../nameserver/worker.ts", (at) => nameserverConfig(config, at), bound, false)),
    startSharing("edge", config.edge.workers, (name, bound) => start(name, "../edge/worker.ts", (at) => edgeConfig(config, at), bound, true)),
    start("gateway", "../gateway/worker.ts", (at) => gatewayConfig(config, at), {}, false),
  ]);
  return { nameservers, edges, gateway, all: [...nameservers, ...edges, gateway] };
}

/** Several threads on one port: the first finds the port, the others join it. */
async function startSharing(name: string, count: number, start: (name: string, bound: Bound) => Promise<PlaneWorker>): Promise<readonly PlaneWorker[]> {
  const first = await start(`${name}-1`, {});
  const others = Array.from({ length: count - 1 }, (_, i) => start(`${name}-${i + 2}`, first.addresses));
  return [first, ...(await Promise.all(others))];
}

const nameserverConfig = (config: Config, bound: Bound): NameserverConfig => ({
  host: config.dns.host,
  port: bound["udp"] ?? config.dns.port,
  reusePort: config.dns.workers > 1,
  edgeAddresses: edgeAddresses(config),
  limits: NAMESERVER_LIMITS,
});

const edgeConfig = (config: Config, bound: Bound): EdgeConfig => ({
  host: config.edge.host,
  httpPort: bound["http"] ?? config.http.port,
  httpsPort: bound["https"] ?? config.https.port,
  reusePort: config.edge.workers > 1,
  vendorPrefix: config.vendor.prefix,
  originPort: config.edge.origin_port,
  originAllow: config.edge.origin_allow,
  limits: EDGE_LIMITS,
});

const gatewayConfig = (config: Config, bound: Bound): GatewayConfig => ({
  host: config.gateway.host,
  port: bound["http"] ?? config.gateway.port,
  vendorPrefix: config.vendor.prefix,
  providers: config.gateway.providers,
  limits: GATEWAY_LIMITS,
});

/** What the nameserver answers for proxied names. */
export const edgeAddresses = (config: Config): readonly string[] => (config.edge.addresses.length > 0 ? config.edge.addresses : [config.edge.host]);

/** One end of a new channel goes to `taker`, the other one to the thread that will send. */
function handOver(taker: PlaneWorker): MessagePort {
  const { near, far } = channel();
  taker.attach(near);
  return far;
}

function portOf(worker: PlaneWorker | undefined, transport: string): number {
  const port = worker?.addresses[transport];
  if (port === undefined) throw new Error(`${worker?.name ?? "a plane"} did not say on which port it serves ${transport}`);
  return port;
}
