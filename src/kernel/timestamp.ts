/** RFC 3339 §5.6; the offset is required, fractions are optional. The day has no hour 24, and seconds here have no leap. */
const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Milliseconds since the Unix epoch; undefined if the text is not a valid time. */
export function parseTimestamp(text: string): number | undefined {
  const match = TIMESTAMP.exec(text);
  if (!match) return undefined;
  const ms = Date.parse(text.replace(" ", "T").toUpperCase());
  if (Number.isNaN(ms)) return undefined;
  // Date.parse turns the thirtieth of February into the first of March.
  const day = Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  return new Date(day).getUTCDate() === Number(match[3]) ? ms : undefined;
}

/** `2030-01-01T00:00:00Z`: whole seconds in UTC, the format of token times. */
export const timestampSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
