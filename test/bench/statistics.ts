/** The value below which the fraction of the values lies; NaN of none. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}

/** The median, or the mean of the two middle values if their number is even. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? Number.NaN)) / 2;
}

export interface Between {
  readonly middle: number;
  /** The 95 % confidence interval. */
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

/** Values of two sides, measured at about the same time. */
export interface Block {
  readonly ours: readonly number[];
  readonly others: readonly number[];
}

const DRAWS = 1000;

/**
 * The quantile of all our values divided by that of all others, with an interval by resampling blocks: the values of
 * one block vary together, so only blocks are independent. The same blocks give the same interval.
 */
export function ratioOfPooled(blocks: readonly Block[], fraction: number, draws = DRAWS): Between {
  const sides = [pool(blocks.map(({ ours }) => ours)), pool(blocks.map(({ others }) => others))] as const;
  const ratioOf = (weights: readonly number[]): number => weighted(sides[0], weights, fraction) / weighted(sides[1], weights, fraction);
  const next = numbersFrom(blocks.length);
  const drawn = Array.from({ length: draws }, () => {
    const weights = Array.from(blocks, () => 0);
    for (let i = 0; i < blocks.length; i++) {
      const index = Math.floor(next() * blocks.length);
      weights[index] = (weights[index] ?? 0) + 1;
    }
    return ratioOf(weights);
  });
  return { middle: ratioOf(blocks.map(() => 1)), low: quantile(drawn, 0.025), high: quantile(drawn, 0.975) };
}

/** The share of blocks cut off at each end, because other work of the machine disturbed them. */
const TRIMMED = 0.1;

/** Values of one side and of each of the others, measured at about the same time. */
export interface ManySided {
  readonly ours: readonly number[];
  readonly others: readonly (readonly number[])[];
}

/**
 * The quantile of each block's own values divided by the geometric mean of those of its others, because sides with
 * equally many values have equal errors. The result is the geometric mean over blocks without the tenth at each end,
 * with an interval by resampling blocks. Variations that affect a whole block cancel out.
 */
export function ratioOfBlocks(blocks: readonly ManySided[], fraction: number, draws = DRAWS): Between {
  const log = (values: readonly number[]): number => Math.log(quantile(values, fraction));
  const logs = blocks.map(({ ours, others }) => log(ours) - others.reduce((sum, other) => sum + log(other), 0) / others.length);
  const next = numbersFrom(blocks.length);
  const drawn = Array.from({ length: draws }, () => trimmedMean(logs.map(() => logs[Math.floor(next() * logs.length)] as number)));
  return {
    middle: Math.exp(trimmedMean(logs)),
    low: Math.exp(quantile(drawn, 0.025)),
    high: Math.exp(quantile(drawn, 0.975)),
  };
}

/**
 * The median of each block's own values minus that of its others: the mean over blocks without the tenth at each end,
 * with an interval by resampling blocks.
 */
export function differenceOfBlocks(blocks: readonly Block[], draws = DRAWS): Between {
  const differences = blocks.map(({ ours, others }) => median(ours) - median(others));
  const next = numbersFrom(blocks.length);
  const drawn = Array.from({ length: draws }, () =>
    trimmedMean(differences.map(() => differences[Math.floor(next() * blocks.length)] as number)),
  );
  return { middle: trimmedMean(differences), low: quantile(drawn, 0.025), high: quantile(drawn, 0.975) };
}

function trimmedMean(values: readonly number[]): number {
  const cut = Math.floor(values.length * TRIMMED);
  const kept = values.toSorted((a, b) => a - b).slice(cut, values.length - cut);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

/** Joins this many consecutive blocks into one, and drops an incomplete last one. */
export const joined = (blocks: readonly ManySided[], count: number): readonly ManySided[] =>
  Array.from({ length: Math.floor(blocks.length / count) }, (_, index) => {
    const part = blocks.slice(index * count, (index + 1) * count);
    const others = (part[0]?.others ?? []).map((_other, side) => part.flatMap((block) => block.others[side] ?? []));
    return { ours: part.flatMap(({ ours }) => ours), others };
  });

/** Values in ascending order, and the block of each. */
interface Pool {
  readonly values: Float64Array;
  readonly blocks: Uint32Array;
}

function pool(lists: readonly (readonly number[])[]): Pool {
  const all = lists.flatMap((values, block) => values.map((value) => ({ value, block }))).sort((a, b) => a.value - b.value);
  return { values: Float64Array.from(all, ({ value }) => value), blocks: Uint32Array.from(all, ({ block }) => block) };
}

function weighted({ values, blocks }: Pool, weights: readonly number[], fraction: number): number {
  let total = 0;
  for (const block of blocks) total += weights[block] as number;
  let left = total * fraction;
  for (let i = 0; i < values.length; i++) if ((left -= weights[blocks[i] as number] as number) < 0) return values[i] as number;
  return Number.NaN;
}

/** Numbers between 0 and 1 (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
