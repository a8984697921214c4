import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "#kernel/clock.ts";
import { behindFence } from "#store/database/fence.ts";
import type { Store } from "#store/database/store.ts";
import { fenceOf, type Lease, releaseLeases, takeLeases } from "#store/nodes/leases.ts";

/** Jobs that one process of several on a database runs at a time. */
export interface JobLeases {
  /** Runs the work behind the fence of the job's lease; null if another process has it. */
  run<T>(job: string, work: () => Promise<T>): Promise<T> | null;
  /** This process has the job from now on, and had not before. */
  onTaken(listener: (job: string) => void): void;
  /** Number of jobs that this process has. */
  held(): number;
  close(): Promise<void>;
}

export interface JobLeasesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly jobs: readonly string[];
  /** Of this process alone: a later one of the same machine must not take over what its predecessor still does. */
  readonly holder: string;
  failed(error: unknown): void;
  readonly leaseMs?: number;
  readonly turnMs?: number;
}

/** A process that ends without a word is replaced after this time and one turn. */
const LEASE_MS = 6_000;
const TURN_MS = 1_500;
const DUTY = "job:";

export async function openJobLeases(deps: JobLeasesDeps): Promise<JobLeases> {
  const { store, clock, jobs, holder, failed, leaseMs = LEASE_MS, turnMs = TURN_MS } = deps;
  const duties = jobs.map((job) => DUTY + job);
  const listeners = new Set<(job: string) => void>();
  const stopping = new AbortController();
  let leases = new Map<string, Lease>();
  /** By the clock of this process, which begins to count before the database does. */
  let heldUntilMs = 0;

  const take = async (): Promise<void> => {
    const asked = clock.monotonicMs();
    const taken = await takeLeases(store, duties, holder, leaseMs);
    const before = leases;
    leases = new Map(taken.map((lease) => [lease.duty, lease]));
    heldUntilMs = asked + leaseMs;
    for (const { duty, epoch } of taken)
      if (before.get(duty)?.epoch !== epoch) for (const listener of listeners) listener(duty.slice(DUTY.length));
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await delay(turnMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (!stopping.signal.aborted) await take().catch(failed);
    }
  };
  await take().catch(failed);
  const running = loop();
  return {
    run: (job, work) => {
      const lease = leases.get(DUTY + job);
      if (lease === undefined || clock.monotonicMs() >= heldUntilMs) return null;
      return behindFence(fenceOf(lease, store.dialect), work);
    },
    onTaken: (listener) => void listeners.add(listener),
    held: () => (clock.monotonicMs() < heldUntilMs ? leases.size : 0),
    close: async () => {
      stopping.abort();
      await running;
      leases = new Map();
      await releaseLeases(store, duties, holder).catch(failed);
    },
  };
}
