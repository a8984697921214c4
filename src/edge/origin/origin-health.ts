import type { Clock } from "#kernel/clock.ts";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import { originKey } from "./origin-tls.ts";
import type { OriginTls } from "#edge/exchange/decisions.ts";
import type { ConnectFault } from "#wire/connections/http/upstream-connection.ts";

/** Recent failures of a thread's origin addresses. Learns only from the requests of visitors. */
export interface OriginHealth {
  /** A connection to the origin with this key succeeded. */
  worked(key: string): void;
  failed(key: string, fault: ConnectFault): void;
  /** The same addresses, with recently failed ones last. After `retryMs`, one request tries such an address first again. */
  order(addresses: readonly string[], port: number, tls: OriginTls | null): readonly string[];
}

interface OriginHealthDeps {
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  /** Milliseconds that an address comes last after a failure. */
  readonly retryMs: number;
}

const FAILED_MAX = 10_000;

export function createOriginHealth({ clock, metrics, retryMs }: OriginHealthDeps): OriginHealth {
  /** By key, the time of the next try. Usually empty. */
  const failed = new Map<string, number>();
  const faults = new Map<ConnectFault, Metric>();

  const count = (fault: ConnectFault): void => {
    let metric = faults.get(fault);
    if (metric === undefined) {
      metric = metrics.counter("selvedge_edge_origin_connects_failed_total", "Failed connections to origins", { fault });
      faults.set(fault, metric);
    }
    metric.value++;
  };
  const mark = (key: string): void => {
    failed.delete(key);
    // In order of insertion, so the first is the oldest.
    for (const oldest of failed.keys()) {
      if (failed.size < FAILED_MAX) break;
      failed.delete(oldest);
    }
    failed.set(key, clock.monotonicMs() + retryMs);
  };
  return {
    worked: (key) => void failed.delete(key),
    failed: (key, fault) => {
      count(fault);
      if (fault !== "no_sockets") mark(key);
    },
    order: (addresses, port, tls) => {
      if (failed.size === 0 || addresses.length < 2) return addresses;
      const nowMs = clock.monotonicMs();
      const untilMs = (address: string): number => failed.get(originKey(address, port, tls)) ?? 0;
      // Only the first address is tried again after its time; other requests avoid it until the result is known.
      const ordered = addresses.filter((address, at) => untilMs(address) <= (at === 0 ? nowMs : 0));
      const first = ordered[0];
      if (first !== undefined && untilMs(first) > 0) mark(originKey(first, port, tls));
      for (const address of addresses) if (!ordered.includes(address)) ordered.push(address);
      return ordered;
    },
  };
}
