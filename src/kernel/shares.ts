/**
 * Divides a limited amount (places, records) among owners, so that none of them can take all of it from the others: an
 * owner holds at most a share of what it holds and what is free. The last free place goes to an owner that holds none.
 */
export interface Shares {
  /** Takes the amount and returns true, or takes nothing: too little is free, or the owner would exceed its share. */
  take(owner: string, amount: number): boolean;
  /** Returns an amount that the owner has taken. */
  release(owner: string, amount: number): void;
  /** Owners that cannot take one more now although something is free. */
  full(): string[];
}

export interface SharesOptions {
  readonly total: number;
  /** Largest part of what it holds and what is free that one owner can hold, between 0 and 1. */
  readonly share: number;
}

export function createShares({ total, share }: SharesOptions): Shares {
  const held = new Map<string, number>();
  let free = total;
  const fits = (mine: number, amount: number): boolean =>
    amount <= free && (mine + amount <= share * (mine + free) || (mine === 0 && amount <= 1));
  return {
    take: (owner, amount) => {
      const mine = held.get(owner) ?? 0;
      if (!fits(mine, amount)) return false;
      held.set(owner, mine + amount);
      free -= amount;
      return true;
    },
    release: (owner, amount) => {
      const left = (held.get(owner) ?? 0) - amount;
      if (left > 0) held.set(owner, left);
      else held.delete(owner);
      free += amount;
    },
    full: () => [...held].filter(([, mine]) => free > 0 && !fits(mine, 1)).map(([owner]) => owner),
  };
}
