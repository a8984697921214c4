import { PlatformError } from "#kernel/errors/errors.ts";
import type { TimeDelta } from "#model/events/dns-report.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const INTERVALS_MAX = 1_500;

interface Delta {
  /** The time field of analytics that is at least as fine. */
  readonly field: string;
  /** The start of the interval that contains a time, in UTC; weeks start on Monday. */
  floor(ms: number): number;
  /** The start of the interval after the one that starts at `ms`. */
  next(ms: number): number;
}

const fixed = (field: string, lengthMs: number): Delta => ({
  field,
  floor: (ms) => Math.floor(ms / lengthMs) * lengthMs,
  next: (ms) => ms + lengthMs,
});

const months = (count: number): Delta => {
  const begin = (ms: number, more: number): number => {
    const date = new Date(ms);
    return Date.UTC(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / count) * count + more);
  };
  return { field: "date", floor: (ms) => begin(ms, 0), next: (ms) => begin(ms, count) };
};

/** The epoch was a Thursday. */
const MONDAY_MS = 4 * DAY_MS;

export const DELTAS: Readonly<Record<Exclude<TimeDelta, "all" | "auto">, Delta>> = {
  minute: fixed("datetimeMinute", MINUTE_MS),
  dekaminute: fixed("datetimeFiveMinutes", 10 * MINUTE_MS),
  hour: fixed("datetimeHour", HOUR_MS),
  day: fixed("date", DAY_MS),
  week: {
    field: "date",
    floor: (ms) => Math.floor((ms - MONDAY_MS) / (7 * DAY_MS)) * 7 * DAY_MS + MONDAY_MS,
    next: (ms) => ms + 7 * DAY_MS,
  },
  month: months(1),
  quarter: months(3),
  year: months(12),
};

/** The interval of `auto`, by the length of the period. */
const AUTO = [
  { upToMs: HOUR_MS, delta: "minute" },
  { upToMs: 12 * HOUR_MS, delta: "dekaminute" },
  { upToMs: 7 * DAY_MS, delta: "hour" },
  { upToMs: 400 * DAY_MS, delta: "day" },
  { upToMs: Infinity, delta: "month" },
] as const;

export interface Intervals {
  readonly delta: Exclude<TimeDelta, "auto">;
  /** Null: one interval. */
  readonly field: string | null;
  /** The beginning of each interval, and the end of the last one. */
  readonly bounds: readonly number[];
}

/** Intervals that cover a period. Throws `invalid_input` if they are too many. */
export function intervalsOf(wanted: TimeDelta, sinceMs: number, untilMs: number): Intervals {
  if (wanted === "all") return { delta: wanted, field: null, bounds: [sinceMs, untilMs] };
  const delta = wanted === "auto" ? (AUTO.find(({ upToMs }) => untilMs - sinceMs <= upToMs)?.delta ?? "month") : wanted;
  const { field, floor, next } = DELTAS[delta];
  const bounds = [floor(sinceMs)];
  while ((bounds.at(-1) ?? untilMs) < untilMs) {
    if (bounds.length > INTERVALS_MAX)
      throw new PlatformError("invalid_input", {
        message: `The period has more than ${INTERVALS_MAX} intervals of a ${delta}. Choose a longer time_delta or a shorter period.`,
        source: "/time_delta",
      });
    bounds.push(next(bounds.at(-1) ?? 0));
  }
  return { delta, field, bounds };
}

/** The index of the interval that contains a time. */
export function indexOf(bounds: readonly number[], ms: number): number {
  let [low, high] = [0, bounds.length - 2];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((bounds[middle] ?? 0) <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}
