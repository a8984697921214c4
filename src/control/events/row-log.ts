import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "#control/call.ts";
import type { PageQuery, RowPage, RowPosition } from "#events/read/queries.ts";
import type { EventReads } from "#events/read/read-client.ts";
import type { EventTables } from "#events/rows/rows.ts";
import type { Where } from "#events/sql/where-sql.ts";
import { backgroundTurn } from "#kernel/background-turn.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type EventScope, inScope } from "./event-filter.ts";
import { csvHead, csvLines, ndjsonLines } from "./event-text.ts";
import type { RowMarks } from "./row-marks.ts";
import { createStreamLimiter } from "./stream-limiter.ts";
import type { TailSource } from "./tail.ts";

export type LogTable = "security_events" | "requests";

/** A kind of rows with its displayed form. */
export interface LogSource<T extends LogTable, V extends object> extends TailSource<T> {
  view(row: EventTables[T]): V;
  /** Columns of a CSV export, in order; new ones are added at the end. */
  readonly columns: readonly (keyof V & string)[];
}

export interface RowLog<T extends LogTable, V extends object> {
  /** Newest first. Throws `invalid_input` for an invalid cursor. */
  list(scope: EventScope, where: Where<T>, page: PageOf): Promise<Page<V>>;
  /**
   * All matching rows, newest first, as text of the format; the consumer sets the pace. Throws `rate_limited` if too many
   * exports run.
   */
  export(where: Where<T>, how: ExportOf): AsyncIterableIterator<string>;
}

interface PageOf {
  readonly page: number;
  readonly per_page: number;
  readonly cursor?: string | undefined;
}

interface ExportOf {
  /** The account against whose limit it counts. */
  readonly accountId: string;
  readonly format?: "ndjson" | "csv" | undefined;
  readonly limit?: number | undefined;
}

/** Largest offset of a page number; cursors have no such limit. */
const OFFSET_MAX = 100_000;
const EXPORT_ROWS_AT_ONCE = 500;
/** Rows of a page that are shown and written in one tick. */
const SHOWN_AT_ONCE = 100;
/** Concurrent exports, per account and in total: each holds rows in memory. */
const EXPORTS = { ofOne: 10, ofAll: 50 } as const;
/** A busy database fails at once; an export retries for half a minute, then aborts. */
const EXPORT_TRIES_MAX = 60;
const EXPORT_TRY_EVERY_MS = 500;

/** Lists and exports of one table of rows. */
export function createRowLog<T extends LogTable, V extends object>(
  reads: EventReads,
  { table, view, columns }: LogSource<T, V>,
  marks: RowMarks,
): RowLog<T, V> {
  const seats = createStreamLimiter({ ...EXPORTS, takers: "exports", what: "be made" });

  const positionOf = (cursor: string, scope: EventScope, where: Where<T>): RowPosition => {
    const position = marks.read(cursor, scope, where);
    if (position === undefined)
      throw new PlatformError("invalid_input", {
        message: `"cursor" is invalid for these filters; use the one from the previous page.`,
        source: "/cursor",
      });
    return position;
  };

  /**
   * Hourly counts outlive their rows; those from before the oldest row of the scope are excluded, since lists cannot show
   * them.
   */
  const countOf = async (where: Where<T>, scope: EventScope): Promise<{ readonly count: number; readonly isEstimate: boolean }> => {
    const [oldest] = (await reads.page(table, { where: inScope(scope) as Where<T>, limit: 1, direction: "asc" })).rows;
    if (oldest === undefined) return { count: 0, isEstimate: false };
    const kept = [...where, { column: "at_ms", operator: "ge", value: oldest.at_ms }] as Where<T>;
    const [counted] = await reads.groups(table, { where: kept, by: [], measures: [], order: [], limit: 1 });
    return { count: counted?.count ?? 0, isEstimate: (counted?.sampleInterval ?? 1) > 1 };
  };

  const pageSoon = async (query: PageQuery<T>): Promise<RowPage<T>> => {
    for (let tries = 1; ; tries++) {
      try {
        return await reads.page(table, query);
      } catch (error) {
        if (tries >= EXPORT_TRIES_MAX || !(error instanceof PlatformError && error.retryable)) throw error;
      }
      await sleep(EXPORT_TRY_EVERY_MS);
    }
  };

  async function* pages(where: Where<T>, { format = "ndjson", limit = Infinity }: Omit<ExportOf, "accountId">): AsyncGenerator<string> {
    // The head is sent with the first rows, because an error could not be reported after it.
    let head = format === "csv" ? csvHead(columns) : "";
    let after: RowPosition | undefined;
    // Positions only get older, so the loop ends with the oldest row at the latest.
    for (let left = limit; left > 0;) {
      const page = await pageSoon({ where, after, limit: Math.min(left, EXPORT_ROWS_AT_ONCE) });
      const rows = page.rows.map(view);
      const text = head + (format === "csv" ? csvLines(columns, rows) : ndjsonLines(rows));
      head = "";
      if (text !== "") yield text;
      if (!page.hasMore || page.last === null) return;
      after = page.last;
      left -= rows.length;
    }
  }

  async function* later(rows: readonly EventTables[T][]): AsyncGenerator<readonly V[], undefined> {
    for (let at = 0; at < rows.length; at += SHOWN_AT_ONCE) {
      await backgroundTurn();
      yield rows.slice(at, at + SHOWN_AT_ONCE).map(view);
    }
    return undefined;
  }

  return {
    list: async (scope, where, { page, per_page, cursor }) => {
      const offset = (page - 1) * per_page;
      if (cursor === undefined && offset > OFFSET_MAX)
        throw new PlatformError("invalid_input", {
          message: `Page numbers reach only to row ${OFFSET_MAX}; use "cursor" for later rows.`,
          source: "/page",
        });
      const after = cursor === undefined ? undefined : positionOf(cursor, scope, where);
      const found = await reads.page(table, { where, after, limit: per_page, ...(after ? {} : { offset }) });
      const isBehindAll = found.rows.length === 0 && offset > 0;
      const shown = (after === undefined && !isBehindAll ? offset : 0) + found.rows.length;
      // On the last page, the total follows from its offset.
      const isLast = after === undefined && !found.hasMore && !isBehindAll;
      const { count, isEstimate } = isLast ? { count: shown, isEstimate: false } : await countOf(where, scope);
      return {
        items: found.rows.slice(0, SHOWN_AT_ONCE).map(view),
        ...(found.rows.length > SHOWN_AT_ONCE ? { more: later(found.rows.slice(SHOWN_AT_ONCE)) } : {}),
        page,
        per_page,
        // A sample may have missed rows that the page contains.
        total_count: isEstimate ? Math.max(count, shown + Number(found.hasMore)) : count,
        after: found.hasMore && found.last !== null ? marks.write(found.last, scope, where) : null,
        ...(isEstimate ? { info: { total_count_is_estimate: true } } : {}),
      };
    },
    export: (where, { accountId, ...how }) => seats.hold(accountId, pages(where, how)),
  };
}
