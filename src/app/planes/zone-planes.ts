import { createRateTable } from "#nameserver/limits/rate-limit.ts";
import { createEdgeWorkers, type EdgeWorkers } from "./edge-workers.ts";
import { createLateZonePlanes, type LateZonePlanes, mayBringZone } from "./lazy-planes.ts";
import { nameserverConfig } from "./plane-configs.ts";
import { type Bound, handOver, isFirst, type PlaneWorker, portOf, startSharing } from "#app/threads/plane-worker.ts";
import type { PlanesDeps, Serve } from "./planes-deps.ts";
import type { Sinks } from "./shared-workers.ts";
import { openZoneSockets, type ZoneSockets } from "./zone-sockets.ts";

/** Nameserver and edge. */
export interface ZonePlanes {
  /** Resolves with their ports, by transport: when they serve, or when visitors can wait for them. */
  start(): Promise<{ readonly dns: Bound; readonly edge: Bound }>;
  /** Whether threads are being started because of a zone or a visitor, and do not serve yet. */
  isWaking(): boolean;
  /** Resolves when they serve, or after the time; true if they serve. */
  awake(withinMs: number): Promise<boolean>;
  /** The AI gateway accepts requests of the edge at this port. */
  gatewayAt(port: number): void;
  readonly useRuleMaterial: EdgeWorkers["useRuleMaterial"];
  /** Their threads, which the caller stops. */
  readonly threads: readonly PlaneWorker[];
  /** Must be called before its threads are stopped. */
  stop(): void;
  /** Must be called after its threads were stopped. */
  close(): void;
}

export interface ZonePlanesParts {
  readonly sinks: Sinks;
  readonly serve: Serve;
  /** Receives each thread of the edge. */
  readonly edgeThreads: PlaneWorker[];
  /** A started thread does not serve after all. */
  forget(worker: PlaneWorker): void;
}

/**
 * Without zones their threads, about 25 MB each, are started by the first zone or by the first visitor: an installation
 * with only the AI gateway needs neither. The ports are open from the start, and a visitor waits in them for half a
 * second (docs/adr/0043).
 */
export function createZonePlanes(deps: PlanesDeps, { sinks, serve, edgeThreads, forget }: ZonePlanesParts): ZonePlanes {
  const { config, publisher, log, hasZones } = deps;
  const threads: PlaneWorker[] = [];
  let isStopped = false;
  const serveZones: Serve = (spec) => {
    if (isStopped) throw new Error("the planes are being stopped");
    const worker = serve(spec);
    threads.push(worker);
    return worker;
  };
  let sockets: ZoneSockets | null = null;
  let late: LateZonePlanes | null = null;
  const edges = createEdgeWorkers(deps, sinks, serveZones, edgeThreads);

  const startThreads = async (): Promise<{ readonly dns: Bound; readonly edge: Bound }> => {
    const [dns, edge] = await Promise.all([
      startNameservers(deps, sinks, sockets, serveZones).then((bound) => {
        edges.neighbourAt("doh", portOf(bound, "doh"));
        return bound;
      }),
      startSharing("edge", config.edge.workers, (name, siblings) => edges.start(name, siblings, sockets)),
    ]);
    return { dns, edge };
  };
  const undo = async (): Promise<void> => {
    const failed = threads.splice(0);
    await Promise.all(failed.map((worker) => worker.stop(0)));
    failed.forEach(forget);
    sockets?.close();
  };
  return {
    start: async () => {
      // HTTPS records contain the edge's port (SPEC 2.3): a port chosen by the system must be known before the nameserver
      // starts.
      sockets = hasZones && config.https.port !== 0 ? null : await openZoneSockets(config, deps.onNotNative);
      if (sockets === null) return startThreads();
      const opened = sockets;
      if (hasZones) {
        const ports = await startThreads();
        opened.handedOver();
        return ports;
      }
      const planes = createLateZonePlanes({ log, undo, start: () => startThreads().then(opened.handedOver) });
      late = planes;
      publisher.onPublished((delta) => void (mayBringZone(delta) && planes.wake()));
      opened.onVisitor(planes.wake);
      return opened.ports;
    },
    isWaking: () => late?.isWaking() ?? false,
    awake: async (withinMs) => late?.awake(withinMs) ?? true,
    useRuleMaterial: edges.useRuleMaterial,
    gatewayAt: (port) => edges.neighbourAt("gateway", port),
    threads,
    stop: () => {
      isStopped = true;
      late?.stop();
      edges.stop();
    },
    close: () => sockets?.close(),
  };
}

function startNameservers({ config }: PlanesDeps, { writer }: Sinks, sockets: ZoneSockets | null, serve: Serve): Promise<Bound> {
  const rateTable = createRateTable();
  return startSharing("nameserver", config.dns.workers, (name, siblings) =>
    serve({
      name,
      script: import.meta.resolve("#nameserver/worker.ts"),
      ports: () => ({ events: handOver(writer) }),
      planeConfig: (bound) => ({
        ...nameserverConfig(config, { ...sockets?.ports.dns, ...siblings, ...bound }, sockets?.ports.edge ?? {}, rateTable),
        ...(isFirst(siblings, bound) ? { sockets: sockets?.ofNameserver() } : {}),
      }),
    }),
  );
}
