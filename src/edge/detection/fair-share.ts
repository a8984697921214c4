/** Measures the detector's time per account, so that bodies of one account do not keep all others waiting. */
export interface FairShare {
  /** Bodies of the account used the time from `fromMs` to `toMs`. */
  took(accountId: string, fromMs: number, toMs: number): void;
  /** No more bodies wait. */
  rest(): void;
  /** True if bodies have waited for long and this account used a large part of the time: its bodies are then left out. */
  isOver(accountId: string): boolean;
}

export interface FairShareOptions {
  monotonicMs(): number;
}

/** While all waiting bodies are finished within this time, it does not matter whose they are. */
const BUSY_MS_MAX = 5_000;
const SHARE_MAX = 1 / 4;
/** Older use counts half after each such interval. */
const HALVED_EVERY_MS = 5_000;
const FORGOTTEN_BELOW_MS = 0.5;

export function createFairShare({ monotonicMs }: FairShareOptions): FairShare {
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
    took: (accountId, fromMs, toMs) => {
      if (toMs - halvedMs >= HALVED_EVERY_MS) {
        halvedMs = toMs;
        halve();
      }
      taken.set(accountId, (taken.get(accountId) ?? 0) + toMs - fromMs);
      total += toMs - fromMs;
    },
    rest: () => void (restedMs = monotonicMs()),
    isOver: (accountId) => monotonicMs() - restedMs > BUSY_MS_MAX && (taken.get(accountId) ?? 0) > total * SHARE_MAX,
  };
}
