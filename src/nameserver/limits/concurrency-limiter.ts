/** Limits concurrent work, in total and per holder. */
export interface ConcurrencyLimiter {
  readonly taken: number;
  heldBy(holder: string): number;
  /** Undefined if no slot is free. Otherwise a function to call once, when the work ends. */
  take(holder: string): (() => void) | undefined;
}

export function createConcurrencyLimiter(max: number, perHolderMax: number): ConcurrencyLimiter {
  const holders = new Map<string, number>();
  let taken = 0;
  return {
    get taken() {
      return taken;
    },
    heldBy: (holder) => holders.get(holder) ?? 0,
    take: (holder) => {
      const held = holders.get(holder) ?? 0;
      if (taken >= max || held >= perHolderMax) return undefined;
      taken += 1;
      holders.set(holder, held + 1);
      return () => {
        taken -= 1;
        const rest = (holders.get(holder) ?? 1) - 1;
        if (rest === 0) holders.delete(holder);
        else holders.set(holder, rest);
      };
    },
  };
}
