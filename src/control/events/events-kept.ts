import type { RetentionLimits } from "#events/retention/retention.ts";

/** Retention in seconds of rows, and of counts by minute and by hour; a full database may keep less. */
export interface EventsKept {
  readonly rows: number;
  readonly minutes: number;
  readonly hours: number;
}

export const eventsKept = ({ ageMs, minutesAgeMs = ageMs, hoursAgeMs = ageMs }: RetentionLimits): EventsKept => ({
  rows: ageMs / 1000,
  minutes: minutesAgeMs / 1000,
  hours: hoursAgeMs / 1000,
});
