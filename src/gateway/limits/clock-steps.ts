import type { Clock } from "#kernel/clock.ts";

/** A difference between the wall clock and the monotonic one that changes by more than this has been set. */
const STEP_MS_MIN = 1_000;

/**
 * Returns how often the wall clock has been set so far. A window of time that was begun before goes on as the present one:
 * otherwise its count would begin again, or last until the clock is as late again.
 */
export function createClockSteps(clock: Clock): () => number {
  let apartMs = clock.nowMs() - clock.monotonicMs();
  let steps = 0;
  return () => {
    const before = apartMs;
    apartMs = clock.nowMs() - clock.monotonicMs();
    if (Math.abs(apartMs - before) > STEP_MS_MIN) steps++;
    return steps;
  };
}
