import type { SecurityEvent } from "#model/security-event.ts";

/** Columns of a CSV export, in their order; later ones are added at the end. */
const COLUMNS = [
  "occurred_at",
  "id",
  "ray_id",
  "zone_id",
  "action",
  "service",
  "rule_id",
  "rule_description",
  "ruleset_id",
  "deployed_by",
  "phase",
  "client_ip",
  "country",
  "method",
  "scheme",
  "host",
  "path",
  "query",
  "user_agent",
  "status",
  "matches",
  "scan_limited",
] as const satisfies readonly (keyof SecurityEvent)[];

export const csvHead = (): string => `${COLUMNS.join(",")}\r\n`;

/** RFC 4180; matches as JSON. */
export const csvLines = (events: readonly SecurityEvent[]): string =>
  events.map((event) => `${COLUMNS.map((column) => csvCell(event[column])).join(",")}\r\n`).join("");

/** One JSON object a line. */
export const ndjsonLines = (events: readonly SecurityEvent[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join("");

/**
 * Paths and user agents are a visitor's own words: what a spreadsheet would take for a formula gets an apostrophe in
 * front, by which spreadsheets know text.
 */
function csvCell(value: SecurityEvent[keyof SecurityEvent]): string {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
