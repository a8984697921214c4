import type { EventCountRow } from "#store/events/event-counts.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;

/** The key of a row among those of one node. */
export const countKey = ({ kind, zone_id, service, hour_ms }: Omit<EventCountRow, "minutes">): string =>
  `${kind} ${zone_id} ${service} ${hour_ms}`;

/** Counts of the minutes of an hour without trailing zeros; zeros are empty: `3,,12`. */
export const minutesText = (counts: readonly number[]): string => Array.from(counts, (count) => count || "").join(",");

/** The counts greater than zero between the times, with the start of their minute. */
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
