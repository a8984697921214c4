import { machineMs } from "#kernel/clock.ts";
import type { PeerName, RuleMaterial } from "#kernel/process/worker-protocol.ts";
import { createCounterMemory } from "#rules/rate-limit/counter-table.ts";
import { createGeoipFiles } from "#app/planes/geoip-files.ts";
import { edgeCacheDisk } from "#app/planes/plane-caches.ts";
import { edgeConfig } from "#app/planes/plane-configs.ts";
import { type PlaneWorker } from "#app/threads/plane-worker.ts";
import { type Bound, handOver, isFirst } from "#app/threads/thread-ports.ts";
import { inheritedBy } from "#app/handover/inherited-sockets.ts";
import type { ZoneSockets } from "#app/planes/zone-sockets.ts";
import type { PlanesDeps, Serve } from "#app/planes/planes-deps.ts";
import type { Sinks } from "#app/planes/shared-workers.ts";
import { createTicketKeyRing } from "#app/planes/ticket-keys.ts";

/** The role `edge`: its threads, and their shared state. */
export interface EdgeWorkers {
  /** The first one takes over the sockets, if any. */
  start(name: string, siblings: Bound, sockets: ZoneSockets | null): PlaneWorker;
  useRuleMaterial(material: RuleMaterial): void;
  /** Another plane accepts its own requests at this port. */
  neighbourAt(name: PeerName, port: number): void;
  /** Ends the periodic updates; the threads themselves are stopped with all serving threads. */
  stop(): void;
}

const EDGE_SOCKETS = ["http", "https"] as const;

/** Adds each started one to `workers`. */
export function createEdgeWorkers(
  { config, files, log, ruleMaterial, operatorPorts, inherited, imagesPort = 0 }: PlanesDeps,
  sinks: Sinks,
  serve: Serve,
  workers: PlaneWorker[],
): EdgeWorkers {
  const counters = createCounterMemory(config.edge.rate_limit_keys_max, machineMs());
  const ticketKeys = createTicketKeyRing((keys) => workers.forEach((edge) => edge.useTicketKeys(keys)));
  const places = createGeoipFiles({
    paths: config.edge.geoip_databases,
    log,
    onChanged: (databases) => workers.forEach((edge) => edge.usePlaces(databases)),
  });
  /** 0 until they listen; edges that have started by then are notified. */
  const neighbours: Record<PeerName, number> = { doh: 0, gateway: 0, images: imagesPort };
  return {
    start: (name, siblings, sockets) => {
      const worker = serve({
        name,
        role: "edge",
        script: import.meta.resolve("#edge/worker.ts"),
        ports: () => ({ events: handOver(sinks.writer), tap: handOver(sinks.detector) }),
        onNeeded: () => sinks.detector.wake(),
        planeConfig: (bound) => ({
          ...edgeConfig(config, { ...sockets?.ports.edge, ...siblings, ...bound }, neighbours),
          sockets: (isFirst(siblings, bound) ? sockets?.ofEdge() : undefined) ?? inheritedBy(name, EDGE_SOCKETS, config, bound, inherited),
          cacheDisk: edgeCacheDisk(config, files, name),
          ticketKeys: ticketKeys.keys(),
          places: places.databases(),
          ruleMaterial: ruleMaterial(),
          operatorPorts,
          counters,
        }),
      });
      workers.push(worker);
      return worker;
    },
    neighbourAt: (name, port) => {
      neighbours[name] = port;
      for (const edge of workers) edge.introduce(name, port);
    },
    useRuleMaterial: (material) => workers.forEach((edge) => edge.useRuleMaterial(material)),
    stop: () => {
      ticketKeys.stop();
      places.stop();
    },
  };
}
