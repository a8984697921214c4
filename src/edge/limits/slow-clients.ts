import { networkOf } from "#kernel/net/network-of.ts";

/** A user of a connection to an origin, who may keep it longer than needed. */
export interface Holder {
  /** It waits only for its visitor: for more of a body, or for room for a response. */
  readonly isHeldByVisitor: boolean;
  /** The visitor's address. */
  readonly visitorAddress: string;
  /** Bytes so far, both ways. */
  readonly bytesMoved: number;
}

/** Finds visitors that occupy connections without using them, while other requests wait for one. */
export interface StalledExchanges<T extends Holder> {
  /** Updates the stalls. Call at every check while requests wait. */
  observe(holders: Iterable<T>, nowMs: number): void;
  /**
   * Up to `count` holders that have stalled for at least `stalledMs`: first of the visitor who has most of them, the
   * slowest first.
   */
  worst(count: number, nowMs: number, stalledMs: number): readonly T[];
  /** Forgets all stalls, because no request waits now. */
  forget(): void;
}

interface Stall {
  readonly sinceMs: number;
  readonly bytes: number;
}

/**
 * With a minimum rate alone, many visitors just above it could occupy every connection to an origin. So a slow visitor is
 * left alone while there is room, and the slowest ones lose their places when there is none.
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
