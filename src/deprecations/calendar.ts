import { isoDate, type IsoDate } from "#kernel/clock.ts";
import type { FeedHead, FeedItem } from "./feed-item.ts";

const DAY_MS = 86_400_000;

/** The feed as a calendar (RFC 5545): each row is an event on the day on which it takes effect. */
export const calendar = ({ title }: FeedHead, items: readonly FeedItem[]): string =>
  [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Selvedge//Deprecations//EN",
    "METHOD:PUBLISH",
    `X-WR-CALNAME:${escaped(title)}`,
    ...items.flatMap(event),
    "END:VCALENDAR",
  ]
    .map((line) => `${folded(line)}\r\n`)
    .join("");

const event = ({ uuid, url, title, text, date, added }: FeedItem): readonly string[] => [
  "BEGIN:VEVENT",
  `UID:${uuid}`,
  `DTSTAMP:${compact(added)}T000000Z`,
  `DTSTART;VALUE=DATE:${compact(date)}`,
  // §3.6.1: the end is exclusive.
  `DTEND;VALUE=DATE:${compact(isoDate(Date.parse(`${date}T00:00:00Z`) + DAY_MS))}`,
  "TRANSP:TRANSPARENT",
  `SUMMARY:${escaped(title)}`,
  `DESCRIPTION:${escaped(text)}`,
  `URL:${url}`,
  "END:VEVENT",
];

const compact = (day: IsoDate): string => day.replaceAll("-", "");

/** Escapes a text (§3.3.11). */
const escaped = (text: string): string => text.replaceAll(/[\\;,]/g, "\\$&").replaceAll("\n", "\\n");

const LINE_BYTES_MAX = 75;

/** Folds a line (§3.1): at most 75 bytes each, continued after a space. Characters stay whole. */
function folded(line: string): string {
  const lines: string[] = [];
  let current = "";
  let bytes = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LINE_BYTES_MAX) {
      lines.push(current);
      current = " ";
      bytes = 1;
    }
    current += character;
    bytes += size;
  }
  return [...lines, current].join("\r\n");
}
