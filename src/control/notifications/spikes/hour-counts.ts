import type { EventCountRow } from "#store/events/event-counts.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;

/** What tells the rows of one node apart. */
export const countKey = ({ kind, zone_id, service, hour_ms }: Omit<EventCountRow, "minutes">): string =>
  `${kind} ${zone_id} ${service} ${hour_ms}`;

/** Counts of the minutes of an hour, without those after the last that had any; of no events nothing is written: `3,,12`. */
export const minutesText = (counts: readonly number[]): string => Array.from(counts, (count) => count || "").join(",");

/** The minutes of the rows that lie between the times and had any, with when they began. */
export function* minutesOf(
  rows: readonly EventCountRow[],
  fromMs: number,
  toMs: number,
): Generator<{ readonly row: EventCountRow; readonly atMs: number; readonly count: number }> {
  for (const row of rows)
    for (const [minute, text] of row.minutes.split(",").entries()) {
      const atMs = row.hour_ms + minute * MINUTE_MS;
      if (text !== "" && atMs >= fromMs && atMs < toMs) yield { row, atMs, count: Number(text) };
    }
}
