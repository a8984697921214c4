/** First line of a CSV export. */
export const csvHead = (columns: readonly string[]): string => `${columns.join(",")}\r\n`;

/** RFC 4180; what is not text or a number as JSON, and null as nothing. */
export const csvLines = <V extends object>(columns: readonly (keyof V & string)[], rows: readonly V[]): string =>
  rows.map((row) => `${columns.map((column) => csvCell(row[column])).join(",")}\r\n`).join("");

/** One JSON object a line. */
export const ndjsonLines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/**
 * Paths and user agents are a visitor's own words: what a spreadsheet would take for a formula gets an apostrophe in
 * front, by which spreadsheets know text.
 */
function csvCell(value: unknown): string {
  const text = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
