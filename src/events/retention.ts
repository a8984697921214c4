import type { EventDatabase } from "./database.ts";

export interface RetentionLimits {
  readonly ageMs: number;
  /** Of the whole database, without free pages. */
  readonly bytes: number;
  /** Of the segments, in which the bodies of gateway requests are; absent: not bounded. */
  readonly segmentBytes?: number;
}

const ROWS_AT_ONCE = 5000;
const PAGES_AT_ONCE = 2000;

/** One short step of keeping the database within its limits. Returns true while there is more to do, so that writing goes on between steps. */
export function retentionStep(database: EventDatabase, limits: RetentionLimits, nowMs: number): boolean {
  const expired = database.deleteBefore(nowMs - limits.ageMs, ROWS_AT_ONCE);
  const surplus = expired === 0 && database.usedBytes() > limits.bytes ? database.deleteOldest(ROWS_AT_ONCE) : 0;
  if (expired + surplus === 0) return false;
  database.shrink(PAGES_AT_ONCE);
  return true;
}
