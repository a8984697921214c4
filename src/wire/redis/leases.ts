import { createHmac } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { type LimitAnswer, type SharedLimit, type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { type CounterPlace, createCounterServer } from "./counter-server.ts";

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
/** A call that takes longer is not waited for: until its answer the caller's own count decides. */
const PATIENCE_MS = 100;
const OVERDRAFT_SHARE = 0.25;
const OVERDRAFT_LEAST = 10;

/**
 * Amount that a thread may pass between two answers of the server beyond its leases. A burst that begins within one turn of the event loop is not
 * refused before the server could say anything. A limit is exceeded by at most this for each thread that counts it (docs/adr/0304).
 */
export const overdraftOf = (limit: number): number => Math.min(limit, Math.max(OVERDRAFT_LEAST, Math.ceil(limit * OVERDRAFT_SHARE)));

interface Lease {
  readonly name: string;
  limit: SharedLimit;
  /** Number of the window on the server; -1 before its first answer for it. */
  window: number;
  endsMs: number;
  /** May be used without asking. */
  held: number;
  granted: number;
  /** Since the last call. */
  used: number;
  overdrawn: number;
  /** Of the call that has no answer yet. */
  askedOverdrawn: number;
  askedMs: number;
  isAsking: boolean;
  /** The last answer had nothing left. */
  isDry: boolean;
  isFull: boolean;
  /** The largest amount that could not be taken. */
  wanted: number;
  wasUsed: boolean;
}

/** Without a place each thread counts alone. */
export const leasedLimits = (place: CounterPlace | undefined, deps: LeasedLimitsDeps): LeasedLimits =>
  place === undefined ? { ...UNSHARED, isUp: () => false, close: () => undefined } : createLeasedLimits(place, deps);

function createLeasedLimits(place: CounterPlace, deps: LeasedLimitsDeps): LeasedLimits {
  const { clock, metrics, subject } = deps;
  const secret = deps.sealer.derive(COUNTERS_PURPOSE);
  const connected = metrics.gauge("selvedge_counters_connections", "Threads that count with other machines through counters.url");
  const calls = metrics.counter("selvedge_counters_calls_total", "Calls to the server of counters.url");
  const failures = metrics.counter("selvedge_counters_unanswered_calls_total", "Calls to the server of counters.url without an answer");
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
  /** `wanted`: the least that the lease must have; 0 only reports. */
  const ask = async (key: string, lease: Lease, wanted: number, returned = 0): Promise<void> => {
    const { limit, used, overdrawn, window } = lease;
    Object.assign(lease, { isAsking: true, askedMs: clock.monotonicMs(), askedOverdrawn: overdrawn, used: 0, overdrawn: 0 });
    lease.held -= returned;
    calls.value++;
    const slides = limit.technique === "sliding" ? "1" : "0";
    const answer = await server.lease(
      lease.name,
      ...[limit.limit, limit.windowMs, slides, window, used, overdrawn, returned, wanted, SHARE],
    );
    lease.isAsking = false;
    lease.askedOverdrawn = 0;
    if (answer === null) {
      failures.value++;
      if (leases.get(key) === lease) leases.delete(key);
      return;
    }
    const [at = -1, granted = 0, left = 0, spent = 0, restMs = 0] = answer;
    if (at !== lease.window) lease.held = 0;
    lease.held += granted;
    if (granted > 0) lease.wanted = 0;
    Object.assign(lease, { window: at, granted, endsMs: lease.askedMs + restMs });
    lease.isDry = granted === 0 && left === 0;
    lease.isFull = lease.isDry && spent >= limit.limit;
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
      if (isIdle && lease.window < 0 && lease.used === 0) leases.delete(key);
      else if (lease.used > 0 || (isIdle && lease.held > 0) || (lease.isDry && !isIdle))
        void ask(key, lease, isLow(lease) ? Math.max(1, lease.wanted) : 0, isIdle ? lease.held : 0);
    }
  }, TICK_MS).unref();

  return {
    take: (key, amount, limit) => {
      if (!server.isUp()) return "yes";
      const nowMs = clock.monotonicMs();
      if (amount === 0) return look(leases.get(key), nowMs);
      const lease = leaseOf(key, limit);
      roll(lease, nowMs);
      const answer = use(lease, amount, nowMs);
      if (!lease.isAsking && (lease.window < 0 || (!lease.isDry && (isLow(lease) || answer !== "yes"))))
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

function newLease(name: string, limit: SharedLimit): Lease {
  return {
    ...{ name, limit, window: -1, endsMs: 0, held: 0, granted: 0, used: 0, overdrawn: 0, askedOverdrawn: 0, askedMs: 0 },
    ...{ isAsking: false, isDry: false, isFull: false, wanted: 0, wasUsed: false },
  };
}

const isLate = ({ isAsking, askedMs }: Lease, nowMs: number): boolean => isAsking && nowMs - askedMs > PATIENCE_MS;

function look(lease: Lease | undefined, nowMs: number): LimitAnswer {
  if (lease === undefined || isLate(lease, nowMs) || nowMs >= lease.endsMs) return "yes";
  return lease.isFull ? "full" : lease.isDry && lease.held === 0 ? "perhaps" : "yes";
}

/** Takes the amount from the lease, or overdraws it. */
function use(lease: Lease, amount: number, nowMs: number): LimitAnswer {
  lease.wasUsed = true;
  const beyond = Math.max(0, amount - lease.held);
  const overdraft = lease.isDry ? 0 : overdraftOf(lease.limit.limit) - lease.overdrawn - lease.askedOverdrawn;
  if (beyond > overdraft && !isLate(lease, nowMs)) {
    lease.wanted = Math.max(lease.wanted, beyond);
    return lease.isFull ? "full" : "perhaps";
  }
  lease.held -= amount - beyond;
  lease.overdrawn += beyond;
  lease.used += amount;
  return "yes";
}
