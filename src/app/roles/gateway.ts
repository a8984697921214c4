import { inheritedBy } from "#app/handover/inherited-sockets.ts";
import { gatewayConfig, gatewayFront } from "#app/planes/plane-configs.ts";
import type { PlanesDeps, Serve } from "#app/planes/planes-deps.ts";
import type { Sinks } from "#app/planes/shared-workers.ts";
import { type PlaneWorker } from "#app/threads/plane-worker.ts";
import { handOver } from "#app/threads/thread-ports.ts";

/** The role `gateway`: the AI gateway, in one thread. */
export const startGateway = ({ config, live, files, operatorPorts, inherited }: PlanesDeps, { writer }: Sinks, serve: Serve): PlaneWorker =>
  serve({
    name: "gateway",
    role: "gateway",
    script: import.meta.resolve("#gateway/worker.ts"),
    ports: () => ({ events: handOver(writer) }),
    planeConfig: (bound) => ({
      ...gatewayConfig(config, gatewayFront(live), files, bound),
      sockets: inheritedBy("gateway", ["http"], config, bound, inherited),
      operatorPorts,
    }),
  });
