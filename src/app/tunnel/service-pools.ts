import { EDGE_LIMITS } from "#edge/config.ts";
import { createOriginHealth } from "#edge/origin/origin-health.ts";
import { createOriginTlsClient } from "#edge/origin/origin-tls.ts";
import { createUpstreamPools, type UpstreamPools } from "#edge/origin/upstream-pool.ts";
import type { Clock } from "#kernel/clock.ts";
import { readRegularFile } from "#kernel/process/regular-file.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Timers } from "#kernel/timers.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { Log } from "#app/log/log.ts";

/** Connections to services, separate for each file of authorities. */
export interface ServicePools {
  /** `caFile`: "" for the public authorities. Null if the file cannot be read, which the log says. */
  of(caFile: string): UpstreamPools | null;
  close(): void;
}

export interface ServicePoolsDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Null: Node.js dials services. */
  readonly loop: SocketLoop | null;
  report(error: unknown): void;
}

/** Services are as slow as they are; the edge has the limit that visitors see. */
const RESPONSE_MS = 3_600_000;

export function createServicePools({ clock, timers, log, loop, report }: ServicePoolsDeps): ServicePools {
  const metrics = createMetrics();
  const byFile = new Map<string, UpstreamPools>();
  /** Named in the log once, until they can be read. */
  const unreadable = new Set<string>();
  const rootsIn = (file: string): readonly string[] | null => {
    try {
      const text = readRegularFile(file).toString();
      if (!text.includes("-----BEGIN ")) throw new Error("it has no certificate in PEM");
      unreadable.delete(file);
      return [text];
    } catch (error) {
      if (!unreadable.has(file))
        log.error({ err: error, file }, "the file of authorities (caPool) cannot be used: requests for its services get 502");
      unreadable.add(file);
      return null;
    }
  };
  return {
    of: (caFile) => {
      const known = byFile.get(caFile);
      if (known !== undefined) return known;
      const roots = caFile === "" ? [] : rootsIn(caFile);
      if (roots === null) return null;
      const health = createOriginHealth({ clock, metrics, retryMs: EDGE_LIMITS.originRetryMs });
      const made = createUpstreamPools({
        limits: { ...EDGE_LIMITS, responseTimeoutMs: RESPONSE_MS },
        ...{ timers, loop, tunnels: null, health, metrics, report },
        tlsClient: createOriginTlsClient({ clock, roots }),
      });
      byFile.set(caFile, made);
      return made;
    },
    close: () => {
      for (const pools of byFile.values()) pools.close();
    },
  };
}
