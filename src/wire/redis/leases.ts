import { createHmac } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { type SharedLimit, type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { type CounterPlace, createCounterServer } from "./counter-server.ts";
import { isLate, lacks, type Lease, lookAt, newLease, overdraftOf, releaseWaiters, takeFrom, untilHeld } from "./lease.ts";

/** Limits of which this thread takes leases from a server of Redis or Valkey. */
export interface LeasedLimits extends SharedLimits {
  isUp(): boolean;
  close(): void;
}

/** The derived key, the same on all machines of an installation, that names counters without revealing what they count. */
export const COUNTERS_PURPOSE = "counters";

export interface LeasedLimitsDeps {
  readonly sealer: Pick<Sealer, "derive">;
  /** Separates counters of different subjects. */
  readonly subject: string;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  onUp?(): void;
  onDown?(reason: string): void;
}

/** Share of what is left that a lease has. */
const SHARE = 0.1;
/** Limits in one thread; beyond it, the oldest is forgotten. What it held stays debited until its window ends. */
const KEYS_MAX = 50_000;
const TICK_MS = 1_000;
/** Without a place each thread counts alone. */
export const leasedLimits = (place: CounterPlace | undefined, deps: LeasedLimitsDeps): LeasedLimits =>
  place === undefined ? { ...UNSHARED, isUp: () => false, close: () => undefined } : createLeasedLimits(place, deps);

function createLeasedLimits(place: CounterPlace, deps: LeasedLimitsDeps): LeasedLimits {
  const { clock, metrics, subject } = deps;
  const secret = deps.sealer.derive(COUNTERS_PURPOSE);
  const connected = metrics.gauge("selvedge_counters_connections", "Threads that count with other machines through counters.url");
  const calls = metrics.counter("selvedge_counters_calls_total", "Calls to the server of counters.url");
  const failures = metrics.counter("selvedge_counters_unanswered_calls_total", "Calls to the server of counters.url without an answer");
  const late = metrics.counter(
    "selvedge_counters_late_total",
    "Times that a limit was counted by this machine alone because an answer was late",
  );
  const leases = new Map<string, Lease>();
  const hashed = (text: string): string => createHmac("sha256", secret).update(text).digest("base64url");
  const prefix = `sv:{${hashed("installation").slice(0, 8)}.`;
  const nameOf = (key: string): string => `${prefix}${hashed(`${subject}\0${key}`).slice(0, 22)}}`;
  const server = createCounterServer({
    ...place,
    probeKey: `${prefix}probe}`,
    onUp: () => {
      connected.value = 1;
      deps.onUp?.();
    },
    onDown: (reason) => {
      connected.value = 0;
      // Its counts may be others when it returns.
      leases.clear();
      deps.onDown?.(reason);
    },
  });

  const leaseOf = (key: string, limit: SharedLimit): Lease => {
    let lease = leases.get(key);
    if (lease === undefined || lease.limit.windowMs !== limit.windowMs) {
      lease = newLease(nameOf(key), limit);
      leases.delete(key);
      if (leases.size >= KEYS_MAX) leases.delete(leases.keys().next().value ?? key);
      leases.set(key, lease);
    }
    lease.limit = limit;
    return lease;
  };
  /** `wanted`: the least that is of use; 0 only reports. `hoped`: more that is of use at once. */
  const ask = async (key: string, lease: Lease, wanted: number, returned = 0, hoped = wanted): Promise<void> => {
    const { limit, used, overdrawn, window } = lease;
    Object.assign(lease, { isAsking: true, askedMs: clock.monotonicMs(), askedOverdrawn: overdrawn, used: 0, overdrawn: 0 });
    lease.held -= returned;
    calls.value++;
    const slides = limit.technique === "sliding" ? "1" : "0";
    const answer = await server.lease(
      lease.name,
      ...[limit.limit, limit.windowMs, slides, window, used, overdrawn, returned, wanted, hoped, SHARE],
    );
    lease.isAsking = false;
    lease.askedOverdrawn = 0;
    if (answer === null) {
      failures.value++;
      if (leases.get(key) === lease) leases.delete(key);
      for (const { go } of lease.waiters.splice(0)) go();
      return;
    }
    const [at = -1, granted = 0, left = 0, spent = 0, restMs = 0] = answer;
    if (at !== lease.window) lease.held = 0;
    lease.held += granted;
    lease.wanted = 0;
    if (granted < wanted) lease.lacked = wanted;
    Object.assign(lease, { window: at, granted, endsMs: lease.askedMs + restMs });
    lease.isDry = granted === 0 && left === 0;
    lease.isFull = lease.isDry && spent >= limit.limit;
    const { next, all } = releaseWaiters(lease);
    if (next > 0) void ask(key, lease, next, 0, all);
  };
  const isLow = ({ held, granted, overdrawn, limit: { limit } }: Lease): boolean =>
    granted > 0 ? held < granted / 2 : overdrawn > overdraftOf(limit) / 2;
  const roll = (lease: Lease, nowMs: number): void => {
    if (lease.window < 0 || nowMs < lease.endsMs) return;
    // Without an answer for the new window nothing more is overdrawn than before: isDry stays.
    Object.assign(lease, { window: -1, held: 0, granted: 0, isFull: false });
  };

  const timer = setInterval(() => {
    if (!server.isUp()) return;
    const nowMs = clock.monotonicMs();
    for (const [key, lease] of leases) {
      if (lease.isAsking) continue;
      roll(lease, nowMs);
      const isIdle = !lease.wasUsed;
      lease.wasUsed = false;
      // Less than a request needs is of use to others only.
      const returned = isIdle || (lease.lacked > 0 && lease.limit.isStrict === true) ? lease.held : 0;
      lease.lacked = 0;
      if (isIdle && lease.window < 0 && lease.used === 0) leases.delete(key);
      else if (lease.used > 0 || returned > 0 || (lease.isDry && !isIdle))
        void ask(key, lease, isLow(lease) && returned === 0 ? Math.max(1, lease.wanted) : 0, returned);
    }
  }, TICK_MS).unref();

  const current = (key: string, limit: SharedLimit, nowMs: number): Lease => {
    const lease = leaseOf(key, limit);
    roll(lease, nowMs);
    return lease;
  };
  return {
    owe: (key, amount, limit) => {
      if (!server.isUp() || amount <= 0) return;
      const lease = current(key, limit, clock.monotonicMs());
      const held = Math.min(lease.held, amount);
      lease.wasUsed = true;
      lease.held -= held;
      lease.overdrawn += amount - held;
      lease.used += amount;
    },
    giveBack: (key, amount, window) => {
      const lease = leases.get(key);
      if (lease === undefined || window < 0 || lease.window !== window || clock.monotonicMs() >= lease.endsMs) return;
      lease.held += amount;
      lease.used -= amount;
    },
    windowOf: (key) => leases.get(key)?.window ?? -1,
    ready: (key, amount, limit) => {
      if (!server.isUp()) return undefined;
      const nowMs = clock.monotonicMs();
      const lease = current(key, limit, nowMs);
      if (lease.held >= amount || isLate(lease, nowMs)) return undefined;
      // For an amount that the server did not have, it is asked once a second.
      if (lacks(lease, amount - lease.held)) return undefined;
      lease.wasUsed = true;
      const held = untilHeld(lease, amount);
      if (!lease.isAsking) void ask(key, lease, amount - lease.held);
      return held;
    },
    take: (key, amount, limit) => {
      if (!server.isUp()) return "yes";
      const nowMs = clock.monotonicMs();
      if (amount === 0) return lookAt(leases.get(key), nowMs);
      const lease = current(key, limit, nowMs);
      if (isLate(lease, nowMs)) late.value++;
      const answer = takeFrom(lease, amount, nowMs);
      if (!lease.isAsking && (lease.window < 0 || (!lease.isDry && lease.lacked === 0 && (isLow(lease) || answer !== "yes"))))
        void ask(key, lease, answer !== "yes" || isLow(lease) ? Math.max(1, lease.wanted) : 0);
      return answer;
    },
    isUp: server.isUp,
    close: () => {
      clearInterval(timer);
      server.close();
    },
  };
}
