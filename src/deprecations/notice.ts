import type { IsoDate } from "#kernel/clock.ts";
import type { Deprecation } from "./deprecation.ts";

/** Response headers that announce the rows that concern a request. If there are several, the earliest day counts. */
export function noticeHeaders(rows: Iterable<Deprecation>, linkTo: (id: string) => string): Readonly<Record<string, string>> {
  const sorted = [...rows].sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : a.id < b.id ? -1 : 1));
  const first = sorted[0];
  if (!first) return {};
  const ms = dayMs(first.date);
  return {
    // RFC 9745 §2.1: a date of structured fields.
    deprecation: `@${ms / 1000}`,
    // RFC 8594 §3: an HTTP date.
    sunset: new Date(ms).toUTCString(),
    // RFC 9745 §3: links to the rows' descriptions.
    link: sorted.map((row) => `<${linkTo(row.id)}>; rel="deprecation"; type="application/json"`).join(", "),
  };
}

const dayMs = (day: IsoDate): number => Date.parse(`${day}T00:00:00Z`);
