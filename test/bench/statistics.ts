/** The value below which the fraction of the values lies; NaN of none. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}

/** The middle value; the mean of the two middle ones where their number is even. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? Number.NaN)) / 2;
}

export interface Between {
  readonly middle: number;
  /** The ends of what it is with a probability of 95 %. */
  readonly low: number;
  readonly high: number;
}

/** The geometric mean of the ratios of values that belong together in pairs; NaN of fewer than two. */
export function pairedRatio(values: readonly number[], others: readonly number[]): Between {
  const logs = values.map((value, index) => Math.log(value / (others[index] ?? Number.NaN)));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
  const margin = NORMAL_95 * Math.sqrt(variance / logs.length);
  return { middle: Math.exp(mean), low: Math.exp(mean - margin), high: Math.exp(mean + margin) };
}

const NORMAL_95 = 1.96;
