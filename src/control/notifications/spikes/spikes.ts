/** Counts are of windows of this length. */
export const WINDOW_MS = 300_000;

/** Fewer events in a window are nothing to wake anybody for, however unusual they are. */
export const SPIKE_FLOOR = 200;

/** So many standard deviations above the mean are no chance any more. */
const DEVIATIONS = 3.5;

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const DAYS = 7;

/** How much there was in each window between the times, which are whole windows apart; nothing else is among the counts. */
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

/** What a window's count is measured against. */
export interface Usual {
  readonly mean: number;
  /** A count above this is a spike. */
  readonly limit: number;
}

/**
 * The stretches of time whose windows are the history of the window that begins at `startMs`: the same hour of each of
 * the seven days before, and the hour before, so that a rise that lasts becomes the usual.
 */
export function historyOf(startMs: number): readonly { readonly fromMs: number; readonly toMs: number }[] {
  const hour = Math.floor(startMs / HOUR_MS) * HOUR_MS;
  const days = Array.from({ length: DAYS }, (_, day) => hour - (day + 1) * DAY_MS);
  return [{ fromMs: startMs - HOUR_MS, toMs: startMs }, ...days.map((fromMs) => ({ fromMs, toMs: fromMs + HOUR_MS }))];
}

/**
 * `samples` are counts of the windows of the history, zeros among them; none where nothing is known. Events do not come
 * evenly, so that a count deviates by its root even where the samples happen to agree.
 */
export function usualOf(samples: readonly number[]): Usual {
  const mean = samples.reduce((sum, count) => sum + count, 0) / Math.max(1, samples.length);
  const variance = samples.reduce((sum, count) => sum + (count - mean) ** 2, 0) / Math.max(1, samples.length - 1);
  const deviation = Math.max(Math.sqrt(variance), Math.sqrt(mean));
  return { mean, limit: Math.max(SPIKE_FLOOR - 1, mean + DEVIATIONS * deviation) };
}
