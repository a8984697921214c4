import { createEdgeWorkers, type EdgeWorkers } from "./edge.ts";
import { type PlaneWorker } from "#app/threads/plane-worker.ts";
import { type Bound, portOf, startSharing } from "#app/threads/thread-ports.ts";
import type { PlanesDeps } from "#app/planes/planes-deps.ts";
import type { Sinks } from "#app/planes/shared-workers.ts";
import { openZoneSockets, type ZoneSockets } from "#app/planes/zone-sockets.ts";
import type { LatePlane, LatePlaneParts } from "./late-plane.ts";
import { createLateThreads } from "./late-threads.ts";
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
  const { config, log, inherited } = deps;
  // Visitors may wait in the sockets of all threads, which nobody would notice without them.
  const hasZones = deps.hasZones || inherited?.servesZones === true;
  const [hasNameserver, hasEdge] = [config.roles.includes("nameserver"), config.roles.includes("edge")];
  const startNameserver = async (sockets: ZoneSockets | null): Promise<Bound> => {
    const bound = await startNameservers(deps, sinks, sockets, late.serve);
    edges.neighbourAt("doh", portOf(bound, "doh"));
    return bound;
  };
  const late = createLateThreads<ZonePorts, ZoneSockets>({
    ...{ deps, serve, forget, name: "nameserver and edge" },
    startedBy: "zone",
    isNeeded: hasZones,
    openSockets: async () => {
      // Only an installation on one machine waits for the first visitor: a process with one of the two roles is there to serve.
      if (!hasNameserver || !hasEdge) return null;
      // HTTPS records contain the edge's port (SPEC 2.3): a port chosen by the system must be known before the nameserver
      // starts.
      const knowsPort = config.https.port !== 0 || inherited?.portsOf("edge-1")["https"] !== undefined;
      return hasZones && knowsPort ? null : openZoneSockets(config, deps.onNotNative, log, inherited);
    },
    startThreads: async (sockets) => {
      const [dns, edge] = await Promise.all([
        hasNameserver ? startNameserver(sockets) : null,
        hasEdge ? startSharing("edge", config.edge.workers, (name, siblings) => edges.start(name, siblings, sockets)) : null,
      ]);
      return { dns, edge };
    },
  });
  const edges = createEdgeWorkers(deps, sinks, late.serve, edgeThreads);
  return {
    ...late,
    names: ["nameserver", "edge"],
    useRuleMaterial: edges.useRuleMaterial,
    gatewayAt: (port) => edges.neighbourAt("gateway", port),
    stop: () => {
      late.stop();
      edges.stop();
    },
  };
}
