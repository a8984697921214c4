import { networkOf } from "#kernel/net/network-of.ts";

/** What may hold a connection to an origin for longer than it needs it. */
export interface Holder {
  /** It waits for its visitor alone: for more of a body, or for room for an answer. */
  readonly isHeldByVisitor: boolean;
  /** The visitor's address. */
  readonly visitorAddress: string;
  /** So far, both ways. */
  readonly bytesMoved: number;
}

/** Knows which visitors keep their connections waiting while others wait for one. */
export interface StalledExchanges<T extends Holder> {
  /** Looks at all of them; to be called at every check while somebody waits. */
  observe(holders: Iterable<T>, nowMs: number): void;
  /** As many as are asked for of those that have stalled for so long: of the visitor who has most of them first, the slowest first. */
  worst(count: number, nowMs: number, stalledMs: number): readonly T[];
  /** Nobody waits any more. */
  forget(): void;
}

interface Stall {
  readonly sinceMs: number;
  readonly bytes: number;
}

/**
 * A rate alone would let many visitors who each keep just above it hold every connection to an origin. So nobody is slow
 * as long as there is room, and who is slower than others loses a place when there is none.
 */
export function createStalledExchanges<T extends Holder>(): StalledExchanges<T> {
  let stalls = new Map<T, Stall>();
  return {
    observe: (holders, nowMs) => {
      const next = new Map<T, Stall>();
      for (const holder of holders)
        if (holder.isHeldByVisitor) next.set(holder, stalls.get(holder) ?? { sinceMs: nowMs, bytes: holder.bytesMoved });
      stalls = next;
    },
    worst: (count, nowMs, stalledMs) => {
      const stalled = Array.from(stalls).filter(([, { sinceMs }]) => nowMs - sinceMs >= stalledMs);
      const rates = new Map(stalled.map(([holder, { sinceMs, bytes }]) => [holder, (holder.bytesMoved - bytes) / (nowMs - sinceMs)]));
      const ofVisitors = Map.groupBy(rates.keys(), ({ visitorAddress }) => networkOf(visitorAddress));
      for (const held of ofVisitors.values()) held.sort((a, b) => rates.get(b)! - rates.get(a)!);
      const chosen: T[] = [];
      while (chosen.length < Math.min(count, stalled.length)) {
        let most: T[] = [];
        for (const held of ofVisitors.values()) if (held.length > most.length || isSlower(held, most, rates)) most = held;
        chosen.push(most.pop()!);
      }
      return chosen;
    },
    forget: () => {
      if (stalls.size > 0) stalls = new Map();
    },
  };
}

const isSlower = <T>(held: readonly T[], most: readonly T[], rates: ReadonlyMap<T, number>): boolean =>
  held.length > 0 && held.length === most.length && rates.get(held.at(-1)!)! < rates.get(most.at(-1)!)!;
