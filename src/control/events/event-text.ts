/** First line of a CSV export. */
export const csvHead = (columns: readonly string[]): string => `${columns.join(",")}\r\n`;

/** CSV lines (RFC 4180); values other than text and numbers as JSON, null as an empty cell. */
export const csvLines = <V extends object>(columns: readonly (keyof V & string)[], rows: readonly V[]): string =>
  rows.map((row) => `${columns.map((column) => csvCell(row[column])).join(",")}\r\n`).join("");

/** One JSON object per line. */
export const ndjsonLines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/**
 * Paths and user agents are chosen by visitors: text that a spreadsheet would interpret as a formula gets an apostrophe
 * in front, which marks text.
 */
function csvCell(value: unknown): string {
  const text = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
