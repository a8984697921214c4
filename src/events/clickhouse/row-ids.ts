/**
 * Numbers of rows in the order of their arrival, which several servers give at the same time without asking one another: the milliseconds of the
 * server's clock, and behind them a place for each server. So `row_id` also says when a row arrived.
 */
export interface RowIds {
  next(): number;
}

/** 41 bits for milliseconds leave twelve of the 53 that a number holds. */
const PER_MS = 4096;
/** Servers that differ; two with the same place may give a number twice, which harms only if their rows have the same zone and millisecond. */
const PLACES = 16;

/** The lowest number that a row gets at this time. */
export const firstRowAt = (ms: number): number => Math.max(0, ms * PER_MS);

/** `server`: any text that differs among servers. */
export function createRowIds(server: string, nowMs: () => number): RowIds {
  let place = 0;
  for (let i = 0; i < server.length; i++) place = (place * 31 + server.charCodeAt(i)) % PLACES;
  let last = 0;
  return {
    next: () => {
      // Never back: neither with the clock, nor when rows come faster than its numbers.
      last = Math.max(last + PLACES, firstRowAt(Math.floor(nowMs())) + place);
      return last;
    },
  };
}
