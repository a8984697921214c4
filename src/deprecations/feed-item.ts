import { createHash } from "node:crypto";
import type { IsoDate } from "#kernel/clock.ts";
import type { Deprecation } from "./deprecation.ts";

/** A row, as feeds show it. */
export interface FeedItem {
  /** The same on every server, as RFC 4287 §4.2.6 requires. */
  readonly uuid: string;
  /** Address of the row's description. */
  readonly url: string;
  readonly title: string;
  readonly text: string;
  /** The day on which the row takes effect. */
  readonly date: IsoDate;
  /** The day on which the row came into the table. */
  readonly added: IsoDate;
  readonly id: string;
}

/** The head of a feed. */
export interface FeedHead {
  readonly title: string;
  /** Address of the feed. */
  readonly url: string;
  /** Address of the table. */
  readonly home: string;
}

/** The day of the table's first edition. */
const FIRST_EDITION: IsoDate = "2026-11-20";

/** The items, newest first. `base` is the address of the table, without a slash at its end. */
export const feedItems = (table: readonly Deprecation[], base: string): readonly FeedItem[] =>
  table
    .map((row) => ({
      uuid: uuidOf(row.id),
      url: `${base}/${row.id}`,
      title: `${row.date}: ${row.id}`,
      text: [
        row.was,
        row.why,
        row.replacement === null ? "It has no replacement." : `Use instead: ${row.replacement}.`,
        ...(row.routes.length === 0 ? [] : [`Routes: ${row.routes.join(", ")}.`]),
      ].join(" "),
      date: row.date,
      added: row.added ?? FIRST_EDITION,
      id: row.id,
    }))
    .toSorted((a, b) => (a.added === b.added ? compare(b.date, a.date) : compare(b.added, a.added)));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A UUID from a hash of the name (RFC 9562 §5.8, version 8). */
export function uuidOf(name: string): string {
  const bytes = createHash("sha256").update(`selvedge deprecation ${name}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
