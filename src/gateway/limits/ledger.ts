import type { SpendBound } from "#gateway/request/spend-bound.ts";
import type { Clock } from "#kernel/clock.ts";
import { type SharedLimit, type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";
import { createClockSteps } from "./clock-steps.ts";
import type { SpendJournal } from "./journal.ts";

export interface SpendLedger {
  /** Reserves the amount in all of the bounds, or in none: it then returns the bound without room. */
  reserve(bounds: readonly SpendBound[], amount: SpendEstimate, hasWaited?: boolean): Reservation | SpendBound;
  /** Resolves when other machines have left enough for the amount, or cannot be waited for; undefined if `reserve` needs no wait. */
  ready(bounds: readonly SpendBound[], amount: SpendEstimate): Promise<void> | undefined;
  /** Whether anything is left beside the spent and reserved amounts. */
  hasRoom(bound: SpendBound): boolean;
  close(): void;
}

export interface SpendEstimate {
  readonly dollars: number;
  /** The cost cannot be higher. */
  readonly isUpperBound: boolean;
}

export interface Reservation {
  /** Releases the reservation and counts the actual amount. Only the first call counts. */
  settle(amount: number): void;
}

/** Whole billionths of a dollar, so that released amounts leave no remainder. */
const units = (dollars: number): number => Math.round(dollars * 1e9);

const sharedOf = ({ limit, windowMs, technique }: SpendBound): SharedLimit => ({
  limit: units(limit),
  windowMs,
  technique,
  isStrict: true,
});

interface Account {
  readonly windowMs: number;
  startMs: number;
  /** Steps of the clock before it was last used. */
  steps: number;
  /** This and the following amounts are in units. */
  spent: number;
  /** Amount of the previous window. */
  before: number;
  /** Reserved by requests under way. */
  reserved: number;
}

/**
 * Keys that are counted; beyond that, the least recently used one is forgotten, because clients choose the values of
 * partitions.
 */
const ACCOUNTS_MAX = 100_000;

/**
 * `fixed` windows begin at multiples of their length; a `sliding` window also counts the share of the previous window
 * that lies within the last length, as rate limits do. A request with a known upper bound passes if that much is left. A
 * request without one may exceed the limit, but only alone: while anything is reserved, only an estimate that fits
 * passes. So a burst spends no more than the same requests in sequence would.
 */
export function createSpendLedger(deps: {
  readonly clock: Clock;
  readonly journal: SpendJournal;
  readonly sharedLimits?: SharedLimits;
}): SpendLedger {
  const { clock, journal, sharedLimits = UNSHARED } = deps;
  const accounts = new Map<string, Account>();

  const stepsOf = createClockSteps(clock);

  const roll = (account: Account, nowMs: number): Account => {
    const startMs = nowMs - (nowMs % account.windowMs);
    const steps = stepsOf();
    if (steps !== account.steps) account.startMs = startMs;
    account.steps = steps;
    if (startMs === account.startMs) return account;
    account.before = account.startMs === startMs - account.windowMs ? account.spent : 0;
    account.spent = 0;
    account.startMs = startMs;
    return account;
  };
  const accountOf = (key: string, windowMs: number): Account => {
    const nowMs = clock.nowMs();
    const known = accounts.get(key);
    // A rule whose window was changed starts from zero.
    if (known !== undefined && known.windowMs === windowMs) return roll(known, nowMs);
    const account = { windowMs, startMs: nowMs - (nowMs % windowMs), steps: stepsOf(), spent: 0, before: 0, reserved: 0 };
    if (accounts.size >= ACCOUNTS_MAX) forgetOne();
    accounts.set(key, account);
    return account;
  };
  const forgetOne = (): void => {
    for (const [key, { reserved }] of accounts)
      if (reserved === 0) {
        accounts.delete(key);
        return;
      }
  };
  const spentIn = (account: Account, { technique, windowMs }: SpendBound): number => {
    if (technique === "fixed") return account.spent;
    return account.spent + account.before * (1 - (clock.nowMs() - account.startMs) / windowMs);
  };
  const fits = (bound: SpendBound, amount: number, isUpperBound: boolean): boolean => {
    const account = accountOf(bound.key, bound.windowMs);
    const spent = spentIn(account, bound);
    return (
      spent + account.reserved + amount <= units(bound.limit) || (!isUpperBound && account.reserved === 0 && spent < units(bound.limit))
    );
  };

  /** Takes the amount in all of the bounds from what all machines share, or in none: it then returns the bound without room. */
  const takeShared = (
    bounds: readonly SpendBound[],
    amount: number,
    { isUpperBound, hasWaited }: { readonly isUpperBound: boolean; readonly hasWaited: boolean },
  ): SpendBound | undefined => {
    for (const [index, bound] of bounds.entries()) {
      const limit = sharedOf(bound);
      const answer = sharedLimits.take(bound.key, amount, limit);
      if (answer === "yes") continue;
      // As above: without an upper bound, alone, while anything is left. And who could not wait is not refused for what others hold.
      const isAlone = !isUpperBound && accountOf(bound.key, bound.windowMs).reserved === 0;
      const mayOwe = answer === "perhaps" && (!hasWaited || (isAlone && sharedLimits.take(bound.key, 1, limit) === "yes"));
      if (mayOwe) {
        sharedLimits.owe(bound.key, amount, limit);
        continue;
      }
      for (const { key } of bounds.slice(0, index)) sharedLimits.giveBack(key, amount, sharedLimits.windowOf(key));
      return bound;
    }
    return undefined;
  };

  for (const { key, windowMs, startMs, amount } of journal.open(clock.nowMs())) {
    const account = accountOf(key, windowMs);
    if (startMs === account.startMs) account.spent += amount;
    else if (startMs === account.startMs - windowMs) account.before += amount;
  }

  return {
    hasRoom: (bound) => {
      const account = accountOf(bound.key, bound.windowMs);
      return spentIn(account, bound) + account.reserved < units(bound.limit) && sharedLimits.take(bound.key, 0, sharedOf(bound)) === "yes";
    },
    ready: (bounds, { dollars }) => {
      const amount = units(dollars);
      const waits = bounds.flatMap((bound) => sharedLimits.ready(bound.key, amount, sharedOf(bound)) ?? []);
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
    },
    reserve: (bounds, { dollars, isUpperBound }, hasWaited = false) => {
      const amount = units(dollars);
      const full = bounds.find((bound) => !fits(bound, amount, isUpperBound)) ?? takeShared(bounds, amount, { isUpperBound, hasWaited });
      if (full !== undefined) return full;
      const held = bounds.map((bound) => ({
        ...{ key: bound.key, account: accountOf(bound.key, bound.windowMs) },
        ...{ shared: sharedOf(bound), window: sharedLimits.windowOf(bound.key) },
      }));
      for (const { account } of held) account.reserved += amount;
      const id = journal.reserved(held.map(({ key, account }) => ({ key, windowMs: account.windowMs, startMs: account.startMs, amount })));
      let isOpen = true;
      return {
        settle: (owed) => {
          if (!isOpen) return;
          isOpen = false;
          const cost = units(owed);
          const nowMs = clock.nowMs();
          for (const { key, account, shared, window } of held) {
            account.reserved = Math.max(0, account.reserved - amount);
            roll(account, nowMs).spent += cost;
            if (cost < amount) sharedLimits.giveBack(key, amount - cost, window);
            else sharedLimits.owe(key, cost - amount, shared);
          }
          journal.settled(
            id,
            held.map(({ key, account }) => ({ key, windowMs: account.windowMs, startMs: account.startMs, amount: cost })),
          );
        },
      };
    },
    close: () => journal.close(),
  };
}
