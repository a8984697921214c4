import type { Clock } from "#kernel/clock.ts";

/**
 * Milliseconds that events of a fast stream wait for later ones (ADR 0040). With a model that writes 1,000 events per
 * second, each read and write then has five; a model that writes 100 is read event by event.
 */
const TICK_MS = 5;

/** A stream is fast if the time between two reads is shorter: reads at ticks are further apart than reads that did not wait. */
export const FAST_MS = TICK_MS * 1.5;

/** A stream that is not read until the next tick. */
export interface Resting {
  onTick(): void;
}

/** Reads all fast streams together; the timer runs only while there is one. */
export interface ReadTicks {
  nowMs(): number;
  /** Called once, at the next tick. */
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
