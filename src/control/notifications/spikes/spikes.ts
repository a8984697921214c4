/** Length of a counted window. */
export const WINDOW_MS = 300_000;

/** Windows with fewer events never cause a notification, however unusual they are. */
export const SPIKE_FLOOR = 200;

/** A count so many standard deviations above the mean is not random. */
const DEVIATIONS = 3.5;

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const DAYS = 7;

/** The number of events per window between the times, which are multiples of a window apart; `counts` must lie between them. */
export function windowCounts(
  counts: Iterable<{ readonly atMs: number; readonly count: number }>,
  fromMs: number,
  toMs: number,
): readonly number[] {
  const windows = Array.from({ length: (toMs - fromMs) / WINDOW_MS }, () => 0);
  for (const { atMs, count } of counts) {
    const window = Math.floor((atMs - fromMs) / WINDOW_MS);
    windows[window] = (windows[window] ?? 0) + count;
  }
  return windows;
}

/** The expected count of a window. */
export interface Usual {
  readonly mean: number;
  /** A count above this is a spike. */
  readonly limit: number;
}

/**
 * The periods that form the history of the window beginning at `startMs`: the same hour on each of the seven previous
 * days, and the previous hour, so that a lasting increase becomes normal.
 */
export function historyOf(startMs: number): readonly { readonly fromMs: number; readonly toMs: number }[] {
  const hour = Math.floor(startMs / HOUR_MS) * HOUR_MS;
  const days = Array.from({ length: DAYS }, (_, day) => hour - (day + 1) * DAY_MS);
  return [{ fromMs: startMs - HOUR_MS, toMs: startMs }, ...days.map((fromMs) => ({ fromMs, toMs: fromMs + HOUR_MS }))];
}

/**
 * `samples`: counts of the history's windows, including zeros; empty if unknown. Events are random, so the deviation is
 * at least the square root of the mean even if the samples are equal.
 */
export function usualOf(samples: readonly number[]): Usual {
  const mean = samples.reduce((sum, count) => sum + count, 0) / Math.max(1, samples.length);
  const variance = samples.reduce((sum, count) => sum + (count - mean) ** 2, 0) / Math.max(1, samples.length - 1);
  const deviation = Math.max(Math.sqrt(variance), Math.sqrt(mean));
  return { mean, limit: Math.max(SPIKE_FLOOR - 1, mean + DEVIATIONS * deviation) };
}
