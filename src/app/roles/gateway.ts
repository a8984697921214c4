import type { GatewayFront } from "#kernel/process/worker-protocol.ts";
import { inheritedBy } from "#app/handover/inherited-sockets.ts";
import { type GatewaySockets, openGatewaySockets } from "#app/planes/gateway-sockets.ts";
import { createLazyPlanes, type LazyPlanes, mayContain } from "#app/planes/lazy-planes.ts";
import { gatewayConfig, gatewayFront } from "#app/planes/plane-configs.ts";
import type { PlanesDeps } from "#app/planes/planes-deps.ts";
import type { Sinks } from "#app/planes/shared-workers.ts";
import { type PlaneWorker } from "#app/threads/plane-worker.ts";
import { type Bound, handOver, portOf } from "#app/threads/thread-ports.ts";
import type { LatePlane, LatePlaneParts } from "./late-plane.ts";

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
  const { config, live, files, log, publisher, operatorPorts, inherited } = deps;
  const threads: PlaneWorker[] = [];
  let isStopped = false;
  let sockets: GatewaySockets | null = null;
  let late: LazyPlanes | null = null;
  const startThread = async (): Promise<Bound> => {
    if (isStopped) throw new Error("the planes are being stopped");
    const worker = serve({
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
    threads.push(worker);
    const bound = await worker.listening;
    sockets?.handedOver();
    onEdgePort(portOf(bound, "edge"));
    return bound;
  };
  const undo = async (): Promise<void> => {
    const failed = threads.splice(0);
    await Promise.all(failed.map((worker) => worker.stop(0)));
    failed.forEach(forget);
    sockets?.close();
  };
  return {
    names: ["gateway"],
    start: async () => {
      sockets = deps.hasGateways ? null : await openGatewaySockets(deps);
      if (sockets === null) return startThread();
      const planes = createLazyPlanes({ name: "AI gateway", log, undo, start: async () => void (await startThread()) });
      late = planes;
      publisher.onPublished((delta) => void (mayContain("gateway", delta) && planes.wake()));
      sockets.onVisitor(planes.wake);
      return sockets.ports;
    },
    waitingSockets: () => sockets?.open() ?? [],
    isIdle: () => late?.isIdle() ?? false,
    isWaking: () => late?.isWaking() ?? false,
    awake: async (withinMs) => late?.awake(withinMs) ?? true,
    useFront: (front) => threads.forEach((worker) => worker.useFront(front)),
    threads,
    stop: () => {
      isStopped = true;
      late?.stop();
    },
    close: () => sockets?.close(),
  };
}
