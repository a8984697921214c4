import { createRateTable } from "#nameserver/limits/rate-limit.ts";
import { inheritedBy } from "#app/handover/inherited-sockets.ts";
import { nameserverConfig } from "#app/planes/plane-configs.ts";
import type { PlanesDeps, Serve } from "#app/planes/planes-deps.ts";
import type { Sinks } from "#app/planes/shared-workers.ts";
import type { ZoneSockets } from "#app/planes/zone-sockets.ts";
import { type Bound, handOver, isFirst, startSharing } from "#app/threads/thread-ports.ts";

const SOCKETS = ["udp", "tcp", "dot"] as const;

/** The role `nameserver`: threads that share the ports and one table of rates. Resolves with the ports when they serve. */
export function startNameservers(
  { config, inherited }: PlanesDeps,
  { writer }: Sinks,
  sockets: ZoneSockets | null,
  serve: Serve,
): Promise<Bound> {
  const rateTable = createRateTable();
  return startSharing("nameserver", config.dns.workers, (name, siblings) =>
    serve({
      name,
      role: "nameserver",
      script: import.meta.resolve("#nameserver/worker.ts"),
      ports: () => ({ events: handOver(writer) }),
      planeConfig: (bound) => ({
        ...nameserverConfig(
          config,
          { ...sockets?.ports.dns, ...siblings, ...bound },
          sockets?.ports.edge ?? inherited?.portsOf("edge-1") ?? {},
          rateTable,
        ),
        sockets: (isFirst(siblings, bound) ? sockets?.ofNameserver() : undefined) ?? inheritedBy(name, SOCKETS, config, bound, inherited),
      }),
    }),
  );
}
