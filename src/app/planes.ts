import type { MessagePort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { createCounterMemory } from "#rules/rate-limit/counter-table.ts";
import { logSegmentsOf } from "#events/writer-config.ts";
import type { GatewayConfig } from "#gateway/config.ts";
import { createRateTable } from "#nameserver/rate-limit.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import type { Publisher } from "#snapshot/publisher.ts";
import type { Config } from "./config.ts";
import type { EarlyThreads } from "./early-threads.ts";
import type { Log } from "./log.ts";
import { createPlaceFiles } from "./place-files.ts";
import { edgeCacheDisk, removeUnusedCaches } from "./plane-caches.ts";
import { edgeConfig, gatewayConfig, nameserverConfig, retentionOf } from "./plane-configs.ts";
import type { PlaneFiles } from "./plane-files.ts";
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
  readonly early: EarlyThreads;
  /** Told of each secondary zone whose primary has announced a change. */
  onNotified(zoneId: string, from: string): void;
  /** Told of each zone that other servers fetch whose apex has other addresses. */
  onReaddressed(zoneId: string, addresses: string): void;
  /** Told of each account whose default gateway is used and does not exist yet. */
  onDefaultGateway(accountId: string, atMs: number): void;
}

/** Time for a thread that only writes down what it has been given. */
const SINK_STOP_MS = 5_000;

/**
 * Starts every thread at once: what is sent to one that still loads waits in its port. They stop in the order in which
 * they feed each other, so that nothing is lost: first those that serve, then detection, then the writer of events.
 * When one cannot start, the others are stopped and the error is thrown.
 */
export async function startPlanes(deps: PlanesDeps): Promise<Planes> {
  const { config } = deps;
  await removeUnusedCaches(config, deps.files);
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
    early: deps.early,
    connect: () => ({ workerData: { path: deps.files.events, ports: [], retention: retentionOf(config) }, transfer: [] }),
    onRestart: () => [detector, ...serving].forEach((worker) => worker.reconnect("events", handOver(writer))),
  });
  const detector = startPlaneWorker({
    name: "detector",
    script: new URL("../edge/detection/worker.ts", import.meta.url),
    log: deps.log,
    early: deps.early,
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
      cacheDisk: edgeCacheDisk(config, deps.files, name),
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
        (bound) => gatewayConfig(config, deps.tls, deps.files, bound),
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
  { publisher, log, files, early, onNotified, onReaddressed, onDefaultGateway }: PlanesDeps,
  { name, script, ports, planeConfig }: ServingSpec,
): PlaneWorker {
  return startPlaneWorker({
    name,
    script: new URL(script, import.meta.url),
    log,
    early,
    onNotified,
    onReaddressed,
    onDefaultGateway,
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
