import { createEdgeWorkers, type EdgeWorkers } from "./edge.ts";
import { createLazyPlanes, type LazyPlanes, mayContain } from "#app/planes/lazy-planes.ts";
import { type PlaneWorker } from "#app/threads/plane-worker.ts";
import { type Bound, portOf, startSharing } from "#app/threads/thread-ports.ts";
import type { PlanesDeps, Serve } from "#app/planes/planes-deps.ts";
import type { Sinks } from "#app/planes/shared-workers.ts";
import { openZoneSockets, type ZoneSockets } from "#app/planes/zone-sockets.ts";
import type { LatePlane, LatePlaneParts } from "./late-plane.ts";
import { startNameservers } from "./nameserver.ts";

export interface ZonePorts {
  readonly dns: Bound | null;
  readonly edge: Bound | null;
}

/** Nameserver and edge; null for a role that is not run. */
export interface ZonePlanes extends LatePlane<ZonePorts> {
  /** The AI gateway accepts requests of the edge at this port. */
  gatewayAt(port: number): void;
  readonly useRuleMaterial: EdgeWorkers["useRuleMaterial"];
}

export interface ZonePlanesParts extends LatePlaneParts {
  readonly sinks: Sinks;
  /** Receives each thread of the edge. */
  readonly edgeThreads: PlaneWorker[];
}

/**
 * Without zones their threads, about 25 MB each, are started by the first zone or by the first visitor: an installation
 * with only the AI gateway needs neither. The ports are open from the start, and a visitor waits in them for half a
 * second (docs/adr/0043).
 */
export function createZonePlanes(deps: PlanesDeps, { sinks, serve, edgeThreads, forget }: ZonePlanesParts): ZonePlanes {
  const { config, publisher, log, inherited } = deps;
  // Visitors may wait in the sockets of all threads, which nobody would notice without them.
  const hasZones = deps.hasZones || inherited?.servesZones === true;
  const threads: PlaneWorker[] = [];
  let isStopped = false;
  const serveZones: Serve = (spec) => {
    if (isStopped) throw new Error("the planes are being stopped");
    const worker = serve(spec);
    threads.push(worker);
    return worker;
  };
  let sockets: ZoneSockets | null = null;
  let late: LazyPlanes | null = null;
  const edges = createEdgeWorkers(deps, sinks, serveZones, edgeThreads);

  const [hasNameserver, hasEdge] = [config.roles.includes("nameserver"), config.roles.includes("edge")];
  const startNameserver = async (): Promise<Bound> => {
    const bound = await startNameservers(deps, sinks, sockets, serveZones);
    edges.neighbourAt("doh", portOf(bound, "doh"));
    return bound;
  };
  const startThreads = async (): Promise<ZonePorts> => {
    const [dns, edge] = await Promise.all([
      hasNameserver ? startNameserver() : null,
      hasEdge ? startSharing("edge", config.edge.workers, (name, siblings) => edges.start(name, siblings, sockets)) : null,
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
    names: ["nameserver", "edge"],
    start: async () => {
      // Only an installation on one machine waits for the first visitor: a process with one of the two roles is there to serve.
      if (!hasNameserver || !hasEdge) return startThreads();
      // HTTPS records contain the edge's port (SPEC 2.3): a port chosen by the system must be known before the nameserver
      // starts.
      const knowsPort = config.https.port !== 0 || inherited?.portsOf("edge-1")["https"] !== undefined;
      sockets = hasZones && knowsPort ? null : await openZoneSockets(config, deps.onNotNative, log, inherited);
      if (sockets === null) return startThreads();
      const opened = sockets;
      if (hasZones) {
        const ports = await startThreads();
        opened.handedOver();
        return ports;
      }
      const planes = createLazyPlanes({ name: "nameserver and edge", log, undo, start: () => startThreads().then(opened.handedOver) });
      late = planes;
      publisher.onPublished((delta) => void (mayContain("zone", delta) && planes.wake()));
      opened.onVisitor(planes.wake);
      return opened.ports;
    },
    waitingSockets: () => sockets?.open() ?? [],
    isIdle: () => late?.isIdle() ?? false,
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
