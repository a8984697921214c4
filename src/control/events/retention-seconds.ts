import type { RetentionLimits } from "#events/retention/retention.ts";

/** Retention in seconds of rows, and of counts by minute and by hour; a full database may keep less. */
export interface RetentionSeconds {
  readonly rows: number;
  readonly minutes: number;
  readonly hours: number;
  /** Other counts are made from rows, so only those of gateways outlive them. */
  readonly onlyGatewaysCount: boolean;
}

export const retentionSeconds = (
  { ageMs, minutesAgeMs = ageMs, hoursAgeMs = ageMs }: RetentionLimits,
  areEventsShared = false,
): RetentionSeconds => ({
  onlyGatewaysCount: areEventsShared,
  rows: ageMs / 1000,
  minutes: minutesAgeMs / 1000,
  hours: hoursAgeMs / 1000,
});
