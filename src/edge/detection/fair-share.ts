/** Whose bodies have taken the detector's time of late, so that those of one account do not keep all others waiting. */
export interface FairShare {
  /** Bodies of the account have taken the time between these. */
  took(accountId: string, fromMs: number, toMs: number): void;
  /** Nothing waits any more. */
  rest(): void;
  /** Whether bodies have waited for long, and a large part of the time went to those of this account: they are left out then. */
  isOver(accountId: string): boolean;
}

export interface FairShareOptions {
  monotonicMs(): number;
}

/** As long as all that waits is done with by then, it does not matter whose it is. */
const BUSY_MS_MAX = 5_000;
const SHARE_MAX = 1 / 4;
/** What was long ago counts less: every so often, half as much. */
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
