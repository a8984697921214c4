import type { Clock } from "#kernel/clock.ts";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import { originKey } from "./origin-tls.ts";
import type { OriginTls } from "#edge/exchange/decisions.ts";
import type { ConnectFault } from "#wire/connections/http/upstream-connection.ts";

/** What a thread has seen of its origins' addresses lately. Nothing is asked: the visitors' own requests tell. */
export interface OriginHealth {
  /** The origin of this key took a connection. */
  worked(key: string): void;
  failed(key: string, fault: ConnectFault): void;
  /** The same addresses, those last that took no connection lately. After a while one request tries such an address again. */
  order(addresses: readonly string[], port: number, tls: OriginTls | null): readonly string[];
}

interface OriginHealthDeps {
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  /** How long an address comes last before it is tried again. */
  readonly retryMs: number;
}

const FAILED_MAX = 10_000;

export function createOriginHealth({ clock, metrics, retryMs }: OriginHealthDeps): OriginHealth {
  /** When an address is tried again. Most of the time there is none. */
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
    // Insertion order is age order: the first is the oldest.
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
      // The first is tried again after its time. Until it is known how that went, others go on avoiding it.
      const ordered = addresses.filter((address, at) => untilMs(address) <= (at === 0 ? nowMs : 0));
      const first = ordered[0];
      if (first !== undefined && untilMs(first) > 0) mark(originKey(first, port, tls));
      for (const address of addresses) if (!ordered.includes(address)) ordered.push(address);
      return ordered;
    },
  };
}
