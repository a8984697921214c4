import type { SpendBound } from "#gateway/request/spend-bound.ts";
import type { Clock } from "#kernel/clock.ts";
import type { SpendJournal } from "./journal.ts";

export interface SpendLedger {
  /** Sets the amount aside in all of the bounds, or in none: then gives the one that has no room for it. */
  reserve(bounds: readonly SpendBound[], amount: SpendEstimate): Reservation | SpendBound;
  /** Whether anything is left, of what is set aside too. */
  hasRoom(bound: SpendBound): boolean;
  close(): void;
}

export interface SpendEstimate {
  readonly dollars: number;
  /** It cannot come to more. */
  readonly isUpperBound: boolean;
}

export interface Reservation {
  /** Gives back what was set aside and counts what it came to. Only the first call counts. */
  settle(amount: number): void;
}

/** Whole billionths of a dollar, so that what is given back leaves nothing behind. */
const units = (dollars: number): number => Math.round(dollars * 1e9);

interface Account {
  readonly windowMs: number;
  startMs: number;
  /** This and what follows in units. */
  spent: number;
  /** What the window before this one came to. */
  before: number;
  /** Set aside by requests that are under way. */
  reserved: number;
}

/** Keys that are counted; of more the one that has been quiet longest is forgotten. Clients choose what partitions them. */
const ACCOUNTS_MAX = 100_000;

/**
 * `fixed` windows begin at multiples of their length; a `sliding` one also counts that part of the window before which lies
 * within the last length, as rate limits do. A request that says how much it can cost at most is let through where that much is
 * left. One that does not may go above what is left, since nobody knows what it will cost, but only alone: while anything is
 * set aside, only what fits is let through. So a burst spends no more than the same requests one after the other would.
 */
export function createSpendLedger({ clock, journal }: { readonly clock: Clock; readonly journal: SpendJournal }): SpendLedger {
  const accounts = new Map<string, Account>();

  const roll = (account: Account, nowMs: number): Account => {
    const startMs = nowMs - (nowMs % account.windowMs);
    if (startMs === account.startMs) return account;
    account.before = account.startMs === startMs - account.windowMs ? account.spent : 0;
    account.spent = 0;
    account.startMs = startMs;
    return account;
  };
  const accountOf = (key: string, windowMs: number): Account => {
    const nowMs = clock.nowMs();
    const known = accounts.get(key);
    // A rule whose window was changed begins again.
    if (known !== undefined && known.windowMs === windowMs) return roll(known, nowMs);
    const account = { windowMs, startMs: nowMs - (nowMs % windowMs), spent: 0, before: 0, reserved: 0 };
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

  for (const { key, windowMs, startMs, amount } of journal.open(clock.nowMs())) {
    const account = accountOf(key, windowMs);
    if (startMs === account.startMs) account.spent += amount;
    else if (startMs === account.startMs - windowMs) account.before += amount;
  }

  return {
    hasRoom: (bound) => {
      const account = accountOf(bound.key, bound.windowMs);
      return spentIn(account, bound) + account.reserved < units(bound.limit);
    },
    reserve: (bounds, { dollars, isUpperBound }) => {
      const amount = units(dollars);
      const full = bounds.find((bound) => !fits(bound, amount, isUpperBound));
      if (full !== undefined) return full;
      const held = bounds.map(({ key, windowMs }) => ({ key, account: accountOf(key, windowMs) }));
      for (const { account } of held) account.reserved += amount;
      const id = journal.reserved(held.map(({ key, account }) => ({ key, windowMs: account.windowMs, startMs: account.startMs, amount })));
      let isOpen = true;
      return {
        settle: (owed) => {
          if (!isOpen) return;
          isOpen = false;
          const cost = units(owed);
          const nowMs = clock.nowMs();
          for (const { account } of held) {
            account.reserved = Math.max(0, account.reserved - amount);
            roll(account, nowMs).spent += cost;
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
