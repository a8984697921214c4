/** Measures the detector's CPU time per account, so that bodies of one account do not keep all others waiting. */
export interface FairShare {
  /** Does work for a body of the account. Its CPU time counts if bodies are waiting: other work of the machine is not theirs. */
  run(accountId: string, work: () => void): void;
  /** No more bodies wait. */
  rest(): void;
  /** True if bodies have waited for long, and this account used both much of the time and a large part of it: its bodies are then left out. */
  isOver(accountId: string): boolean;
}

export interface FairShareOptions {
  monotonicMs(): number;
  /** CPU time of this thread in milliseconds. */
  cpuMs?(): number;
}

/** While all waiting bodies are finished within this time, it does not matter whose they are. */
const BUSY_MS_MAX = 5_000;
/** Reading the CPU time takes as long as scanning a short body, so it is left out until bodies have waited this long. */
const MEASURED_AFTER_MS = 1_000;
const SHARE_MAX = 1 / 4;
/** On a machine that leaves the detector no time, or while it compiles, a few bodies wait as long as many. */
const USED_MS_MIN = 250;
/** Older use counts half after each such interval. */
const HALVED_EVERY_MS = 5_000;
const FORGOTTEN_BELOW_MS = 0.5;

export function createFairShare({ monotonicMs, cpuMs = threadCpuMs }: FairShareOptions): FairShare {
  const taken = new Map<string, number>();
  let total = 0;
  let restedMs = monotonicMs();
  let halvedMs = restedMs;

  const halve = (): void => {
    total = 0;
    for (const [accountId, ms] of taken) {
      if (ms < 2 * FORGOTTEN_BELOW_MS) taken.delete(accountId);
      else taken.set(accountId, ms / 2);
      total += taken.get(accountId) ?? 0;
    }
  };

  return {
    run: (accountId, work) => {
      const nowMs = monotonicMs();
      if (nowMs - restedMs <= MEASURED_AFTER_MS) return work();
      if (nowMs - halvedMs >= HALVED_EVERY_MS) {
        halvedMs = nowMs;
        halve();
      }
      const from = cpuMs();
      work();
      const used = cpuMs() - from;
      taken.set(accountId, (taken.get(accountId) ?? 0) + used);
      total += used;
    },
    rest: () => void (restedMs = monotonicMs()),
    isOver: (accountId) => {
      const own = taken.get(accountId) ?? 0;
      return monotonicMs() - restedMs > BUSY_MS_MAX && own > USED_MS_MIN && own > total * SHARE_MAX;
    },
  };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
