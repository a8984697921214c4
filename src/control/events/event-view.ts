import type { SecurityEventRow } from "#events/rows/rows.ts";
import type { SecurityEvent } from "#model/events/security-event.ts";

/** A row as in the activity log, its exports and its tails. */
export const eventView = (row: SecurityEventRow): SecurityEvent => ({
  ...row,
  occurred_at: new Date(row.at_ms).toISOString(),
  matches: row.matches.map((match) => ({ ...match })),
  scan_limited: row.scan_limited ?? false,
  country: row.country ?? "",
});
