import type { GatewayFront } from "#kernel/process/worker-protocol.ts";
import { inheritedBy } from "#app/handover/inherited-sockets.ts";
import { type GatewaySockets, openGatewaySockets } from "#app/planes/gateway-sockets.ts";
import { gatewayConfig, gatewayFront } from "#app/planes/plane-configs.ts";
import type { PlanesDeps } from "#app/planes/planes-deps.ts";
import type { Sinks } from "#app/planes/shared-workers.ts";
import { type Bound, handOver, portOf } from "#app/threads/thread-ports.ts";
import type { LatePlane, LatePlaneParts } from "./late-plane.ts";
import { createLateThreads } from "./late-threads.ts";

/** The role `gateway`: the AI gateway, in one thread. */
export interface GatewayPlane extends LatePlane<Bound> {
  useFront(front: GatewayFront): void;
}

/**
 * Without gateways the thread is started by the first one, or by the first visitor (docs/adr/0353). `onEdgePort` gets the
 * port at which it accepts requests of the edge.
 */
export function createGatewayPlane(
  deps: PlanesDeps,
  { writer }: Sinks,
  { serve, forget, onEdgePort }: LatePlaneParts & { onEdgePort(port: number): void },
): GatewayPlane {
  const { config, live, files, operatorPorts, inherited } = deps;
  const startThread = async (sockets: GatewaySockets | null): Promise<Bound> => {
    const worker = late.serve({
      name: "gateway",
      role: "gateway",
      script: import.meta.resolve("#gateway/worker.ts"),
      ports: () => ({ events: handOver(writer) }),
      planeConfig: (bound) => ({
        ...gatewayConfig(config, gatewayFront(live), files, { ...sockets?.ports, ...bound }),
        sockets: { ...sockets?.descriptors(), ...inheritedBy("gateway", ["http"], config, bound, inherited) },
        operatorPorts,
      }),
    });
    const bound = await worker.listening;
    onEdgePort(portOf(bound, "edge"));
    return bound;
  };
  const late = createLateThreads({
    ...{ deps, serve, forget, name: "AI gateway" },
    startedBy: "gateway",
    isNeeded: deps.hasGateways,
    openSockets: async () => (deps.hasGateways ? null : openGatewaySockets(deps)),
    startThreads: startThread,
  });
  return {
    ...late,
    names: ["gateway"],
    useFront: (front) => late.threads.forEach((worker) => worker.useFront(front)),
  };
}
