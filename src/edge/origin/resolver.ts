import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { createSemaphore } from "#kernel/semaphore.ts";
import type { ResolverLimits } from "#edge/config.ts";
import type { LookUp } from "./dns-client.ts";

/** Addresses of an outside name, at once if they are known; empty if it has none or the look-up failed. Never rejects. */
export type Resolver = (name: string) => readonly string[] | Promise<readonly string[]>;

interface ResolverDeps {
  readonly lookUp: LookUp;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly limits: ResolverLimits;
}

interface Entry {
  readonly name: string;
  /** Result of the last look-up that succeeded. Times are milliseconds on the monotonic scale. */
  addresses: readonly string[];
  refreshMs: number;
  freshUntilMs: number;
  goodUntilMs: number;
  /** Look-ups that have failed since. */
  failures: number;
  retryMs: number;
  pending: Promise<readonly string[]> | null;
}

const NONE: readonly string[] = [];

/**
 * Caches addresses for their TTL, and refreshes them before it ends if they are used. While look-ups fail, the last good
 * addresses are used.
 */
export function createResolver({ lookUp, clock, metrics, limits }: ResolverDeps): Resolver {
  const entries = new Map<string, Entry>();
  const turns = createSemaphore(limits.lookupsMax, limits.queuedLookupsMax);
  const counter = (result: string) =>
    metrics.counter("selvedge_edge_origin_lookups_total", "DNS lookups of origins outside the hosted zones", { result });
  const counters = { found: counter("found"), nothing: counter("nothing"), failed: counter("failed") };

  const entryOf = (name: string): Entry => {
    let entry = entries.get(name);
    if (entry === undefined) {
      // In order of insertion, so the first is the oldest. If it is still used, its next request adds it again.
      for (const oldest of entries.keys()) {
        if (entries.size < limits.namesMax) break;
        entries.delete(oldest);
      }
      entry = { name, addresses: NONE, refreshMs: 0, freshUntilMs: 0, goodUntilMs: 0, failures: 0, retryMs: 0, pending: null };
      entries.set(name, entry);
    }
    return entry;
  };

  const learn = (entry: Entry, addresses: readonly string[], ttlSeconds: number): void => {
    const nowMs = clock.monotonicMs();
    const lifeMs = addresses.length === 0 ? limits.nothingMs : Math.min(Math.max(ttlSeconds * 1000, limits.lifeMinMs), limits.lifeMaxMs);
    entry.addresses = addresses;
    entry.refreshMs = nowMs + lifeMs * limits.refreshAfter;
    entry.freshUntilMs = nowMs + lifeMs;
    entry.goodUntilMs = nowMs + lifeMs + (addresses.length === 0 ? 0 : limits.staleMs);
    entry.failures = entry.retryMs = 0;
    (addresses.length === 0 ? counters.nothing : counters.found).value++;
  };
  const fail = (entry: Entry): void => {
    entry.retryMs = clock.monotonicMs() + Math.min(limits.retryMinMs * 2 ** entry.failures, limits.retryMaxMs);
    entry.failures++;
    counters.failed.value++;
  };
  const known = (entry: Entry): readonly string[] => (clock.monotonicMs() < entry.goodUntilMs ? entry.addresses : NONE);

  const renew = (entry: Entry): Promise<readonly string[]> =>
    (entry.pending ??= turns
      .run(() => lookUp(entry.name))
      .then(
        ({ addresses, ttlSeconds }) => learn(entry, addresses, ttlSeconds),
        () => fail(entry),
      )
      .then(() => {
        entry.pending = null;
        return known(entry);
      }));

  return (name) => {
    const entry = entryOf(name);
    const nowMs = clock.monotonicMs();
    const mayAsk = nowMs >= entry.retryMs;
    if (nowMs < entry.freshUntilMs) {
      if (nowMs >= entry.refreshMs && mayAsk) void renew(entry);
      return entry.addresses;
    }
    // A look-up failed recently, so the old addresses, or none, are returned for now.
    if (!mayAsk) return known(entry);
    const renewed = renew(entry);
    return entry.failures > 0 && known(entry).length > 0 ? known(entry) : renewed;
  };
}
