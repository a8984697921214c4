import type { Clock } from "#kernel/clock.ts";

/**
 * How long the events of a fast stream wait at most for those that come behind them (ADR 0040). Of a model that writes 1,000 a
 * second, each read and each write has five then; one that writes 100 is read as it writes.
 */
const TICK_MS = 5;

/** A stream is fast where so little is between two reads: those at ticks are further apart than those that were not waited for. */
export const FAST_MS = TICK_MS * 1.5;

/** A stream that is not read until the next tick. */
export interface Resting {
  onTick(): void;
}

/** When fast streams are read: all of them together, with a timer only while there is one. */
export interface ReadTicks {
  nowMs(): number;
  /** Told once, at the next tick. */
  add(one: Resting): void;
}

export function createReadTicks(clock: Clock): ReadTicks {
  let resting: Resting[] = [];
  const tick = (): void => {
    const told = resting;
    resting = [];
    for (const one of told) one.onTick();
  };
  return {
    nowMs: () => clock.monotonicMs(),
    add: (one) => {
      if (resting.length === 0) setTimeout(tick, TICK_MS);
      resting.push(one);
    },
  };
}
