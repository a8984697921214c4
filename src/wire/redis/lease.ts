import type { LimitAnswer, SharedLimit } from "#kernel/net/shared-limits.ts";

/** One thread's part of a limit. */
export interface Lease {
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
  /** The server had less than this, as of the last second; 0: it is not known. */
  lacked: number;
  /** Requests that wait for their amount. */
  waiters: { readonly amount: number; go(): void }[];
  wasUsed: boolean;
}

/** A call that takes longer is not waited for: until its answer the caller's own count decides. */
const PATIENCE_MS = 100;
const OVERDRAFT_SHARE = 0.25;
const OVERDRAFT_LEAST = 10;

/**
 * Amount that a thread may pass between two answers of the server beyond its leases. A burst that begins within one turn of the event loop is not
 * refused before the server could say anything. A limit is exceeded by at most this for each thread that counts it (docs/adr/0304).
 */
export const overdraftOf = (limit: number): number => Math.min(limit, Math.max(OVERDRAFT_LEAST, Math.ceil(limit * OVERDRAFT_SHARE)));

export function newLease(name: string, limit: SharedLimit): Lease {
  return {
    ...{ name, limit, window: -1, endsMs: 0, held: 0, granted: 0, used: 0, overdrawn: 0, askedOverdrawn: 0, askedMs: 0 },
    ...{ isAsking: false, isDry: false, isFull: false, wanted: 0, lacked: 0, wasUsed: false, waiters: [] },
  };
}

/** Resolves when the lease has the amount for its caller, or cannot get it, or when the answers are late. */
export function untilHeld(lease: Lease, amount: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, PATIENCE_MS);
  lease.waiters.push({
    amount,
    go: () => {
      clearTimeout(timer);
      resolve();
    },
  });
  return promise;
}

/** Lets those go for whom the lease has enough, or who cannot get it. Returns the amounts that the next one and all others lack. */
export function releaseWaiters(lease: Lease): { readonly next: number; readonly all: number } {
  let free = lease.held;
  const waiting = lease.waiters;
  lease.waiters = [];
  for (const waiter of waiting) {
    const isHeld = free >= waiter.amount;
    if (isHeld) free -= waiter.amount;
    if (isHeld || lacks(lease, waiter.amount - free)) waiter.go();
    else lease.waiters.push(waiter);
  }
  const lacking = (amount: number): number => Math.max(0, amount - free);
  return { next: lacking(lease.waiters[0]?.amount ?? 0), all: lacking(lease.waiters.reduce((sum, { amount }) => sum + amount, 0)) };
}

/** Whether the server is known not to have this. */
export const lacks = ({ lacked }: Lease, amount: number): boolean => lacked > 0 && amount >= lacked;

export const isLate = ({ isAsking, askedMs }: Lease, nowMs: number): boolean => isAsking && nowMs - askedMs > PATIENCE_MS;

export function lookAt(lease: Lease | undefined, nowMs: number): LimitAnswer {
  if (lease === undefined || isLate(lease, nowMs) || nowMs >= lease.endsMs) return "yes";
  return lease.isFull ? "full" : lease.isDry && lease.held === 0 ? "perhaps" : "yes";
}

/** Takes the amount from the lease, or overdraws it. */
export function takeFrom(lease: Lease, amount: number, nowMs: number): LimitAnswer {
  lease.wasUsed = true;
  const beyond = Math.max(0, amount - lease.held);
  const { limit, isStrict = false } = lease.limit;
  const overdraft = lease.isDry || isStrict ? 0 : overdraftOf(limit) - lease.overdrawn - lease.askedOverdrawn;
  if (beyond > overdraft && !isLate(lease, nowMs)) {
    lease.wanted = Math.max(lease.wanted, beyond);
    return lease.isFull ? "full" : "perhaps";
  }
  lease.held -= amount - beyond;
  lease.overdrawn += beyond;
  lease.used += amount;
  return "yes";
}
