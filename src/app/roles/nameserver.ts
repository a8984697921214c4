import { createRateTable } from "#nameserver/limits/rate-limit.ts";
import { nameserverConfig } from "#app/planes/plane-configs.ts";
import type { PlanesDeps, Serve } from "#app/planes/planes-deps.ts";
import type { Sinks } from "#app/planes/shared-workers.ts";
import type { ZoneSockets } from "#app/planes/zone-sockets.ts";
import { type Bound, handOver, isFirst, startSharing } from "#app/threads/plane-worker.ts";

/** The role `nameserver`: threads that share the ports and one table of rates. Resolves with the ports when they serve. */
export function startNameservers({ config }: PlanesDeps, { writer }: Sinks, sockets: ZoneSockets | null, serve: Serve): Promise<Bound> {
  const rateTable = createRateTable();
  return startSharing("nameserver", config.dns.workers, (name, siblings) =>
    serve({
      name,
      role: "nameserver",
      script: import.meta.resolve("#nameserver/worker.ts"),
      ports: () => ({ events: handOver(writer) }),
      planeConfig: (bound) => ({
        ...nameserverConfig(config, { ...sockets?.ports.dns, ...siblings, ...bound }, sockets?.ports.edge ?? {}, rateTable),
        ...(isFirst(siblings, bound) ? { sockets: sockets?.ofNameserver() } : {}),
      }),
    }),
  );
}
