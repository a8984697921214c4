import type { Page } from "#control/call.ts";
import type { RowPosition } from "#events/queries.ts";
import { PlatformError } from "#kernel/errors.ts";
import { ulidTimeMs } from "#kernel/ids.ts";
import type { Sealer } from "#kernel/seal.ts";
import {
  EVENT_EXPORT_ROWS_MAX,
  type SecurityEvent,
  type SecurityEventExport,
  type SecurityEventQuery,
  type SecurityEventTail,
} from "#model/security-event.ts";
import { type EventScope, eventsOf } from "./event-filter.ts";
import { eventView } from "./event-view.ts";
import { csvHead, csvLines, ndjsonLines } from "./event-text.ts";
import { createRowMarks } from "./row-marks.ts";
import { createTails, type TailDeps, type TailSource } from "./tail.ts";

export interface SecurityEvents {
  /** Newest first. Throws `invalid_input` for a time, address or cursor that is none. */
  list(scope: EventScope, query: SecurityEventQuery & { readonly page: number; readonly per_page: number }): Promise<Page<SecurityEvent>>;
  /** All that fit, newest first, as text of the format; whoever takes it sets the pace. Throws as `list` does. */
  export(scope: EventScope, query: SecurityEventExport): AsyncIterable<string>;
  /**
   * What comes from now on, as a stream of events (WHATWG HTML, "Server-sent events"), until the reader goes. One that is
   * too far behind is told how much it does not get. Throws as `list` does, and `rate_limited` when too
   * many read already.
   */
  tail(scope: EventScope, query: SecurityEventTail, accountId: string): AsyncIterable<string>;
  /** Ends every tail. */
  close(): void;
}

/** Pages are found by their number up to here; a cursor has no such end. */
const OFFSET_MAX = 100_000;
const EXPORT_ROWS_AT_ONCE = 500;

export function createSecurityEvents({ reads, clock, sealer }: TailDeps & { readonly sealer: Sealer }): SecurityEvents {
  const marks = createRowMarks(sealer, "security_events");
  const tails = createTails({ reads, clock }, SECURITY_EVENTS, marks);

  const positionOf = (cursor: string, scope: EventScope): RowPosition => {
    const position = marks.read(cursor, scope);
    if (position === undefined)
      throw new PlatformError("invalid_input", { message: `"cursor" is not one that this list gave out.`, source: "/cursor" });
    return position;
  };

  /** Counts by the hour stay when rows go: those from before the oldest row of the scope say nothing of what a list can show. */
  const countOf = async (where: ReturnType<typeof eventsOf>, scope: EventScope): Promise<number> => {
    const [oldest] = (await reads.page("security_events", { where: eventsOf(scope, {}), limit: 1, direction: "asc" })).rows;
    if (oldest === undefined) return 0;
    const kept = [...where, { column: "at_ms", operator: "ge", value: oldest.at_ms } as const];
    const [counted] = await reads.groups("security_events", { where: kept, by: [], measures: [], order: [], limit: 1 });
    return counted?.count ?? 0;
  };

  async function* exported(where: ReturnType<typeof eventsOf>, format: "ndjson" | "csv", limit: number): AsyncGenerator<string> {
    if (format === "csv") yield csvHead();
    let after: RowPosition | undefined;
    for (let left = limit; left > 0;) {
      const page = await reads.page("security_events", { where, after, limit: Math.min(left, EXPORT_ROWS_AT_ONCE) });
      const events = page.rows.map(eventView);
      if (events.length > 0) yield format === "csv" ? csvLines(events) : ndjsonLines(events);
      if (!page.hasMore || page.last === null) return;
      after = page.last;
      left -= events.length;
    }
  }

  return {
    close: tails.close,
    list: async (scope, { page, per_page, cursor, ...filter }) => {
      const where = eventsOf(scope, filter);
      const offset = (page - 1) * per_page;
      if (cursor === undefined && offset > OFFSET_MAX)
        throw new PlatformError("invalid_input", {
          message: `Pages are numbered up to event ${OFFSET_MAX}; use "cursor" beyond.`,
          source: "/page",
        });
      const after = cursor === undefined ? undefined : positionOf(cursor, scope);
      const [found, count] = await Promise.all([
        reads.page("security_events", { where, after, limit: per_page, ...(after ? {} : { offset }) }),
        countOf(where, scope),
      ]);
      return {
        items: found.rows.map(eventView),
        page,
        per_page,
        total_count: count,
        after: found.hasMore && found.last !== null ? marks.write(found.last, scope) : null,
      };
    },
    export: (scope, { format = "ndjson", limit = EVENT_EXPORT_ROWS_MAX, ...filter }) => exported(eventsOf(scope, filter), format, limit),
    tail: (scope, { last_event_id: lastEventId, for_seconds: seconds, ...filter }, accountId) =>
      tails.open(eventsOf(scope, filter), { scope, accountId, lastEventId, forMs: seconds === undefined ? undefined : seconds * 1000 }),
  };
}

/** An event is written some time after the moment that its identifier names. */
const WRITTEN_WITHIN_MS = 3_600_000;

const SECURITY_EVENTS: TailSource<"security_events"> = {
  table: "security_events",
  event: "security_event",
  idOf: ({ id }) => id,
  view: eventView,
  whereIs: (id) => {
    const ms = ulidTimeMs(id);
    if (ms === undefined) return null;
    return [
      { column: "at_ms", operator: "ge", value: ms - WRITTEN_WITHIN_MS },
      { column: "at_ms", operator: "le", value: ms },
      { column: "id", operator: "eq", value: id },
    ];
  },
};
