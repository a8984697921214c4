import type { EventDatabase } from "#events/database/database.ts";

export interface RetentionLimits {
  readonly ageMs: number;
  /** Limit of the whole database, without free pages. */
  readonly bytes: number;
  /** Limit of the segments, which contain the bodies of gateway requests; absent: unlimited. */
  readonly segmentBytes?: number;
  /** Ages of the counts by minute and by hour, which stay when rows are deleted; absent: the same as rows. */
  readonly minutesAgeMs?: number;
  readonly hoursAgeMs?: number;
}

const ROWS_AT_ONCE = 5000;
const PAGES_AT_ONCE = 2000;

/**
 * One short step of keeping the database within its limits. Returns true while more remains, so that writing continues
 * between steps.
 */
export function retentionStep(database: EventDatabase, limits: RetentionLimits, nowMs: number): boolean {
  const { ageMs, minutesAgeMs = ageMs, hoursAgeMs = ageMs } = limits;
  const expired =
    database.deleteBefore(nowMs - ageMs, ROWS_AT_ONCE) +
    database.deleteCountsBefore("minutes", nowMs - minutesAgeMs, ROWS_AT_ONCE) +
    database.deleteCountsBefore("hours", nowMs - hoursAgeMs, ROWS_AT_ONCE);
  const surplus = expired === 0 && database.usedBytes() > limits.bytes ? database.deleteOldest(ROWS_AT_ONCE) : 0;
  if (expired + surplus === 0) return false;
  database.shrink(PAGES_AT_ONCE);
  return true;
}
