import { setTimeout as sleep } from "node:timers/promises";
import type { RowsSince } from "#events/read/rows-since.ts";
import type { EventReads } from "#events/read/read-client.ts";
import type { EventTables } from "#events/rows/rows.ts";
import type { Where } from "#events/sql/where-sql.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createSemaphore } from "#kernel/semaphore.ts";
import type { EventScope } from "./event-filter.ts";
import type { RowMarks } from "./row-marks.ts";
import { createStreamLimiter } from "./stream-limiter.ts";

/** Concurrent clients, in total and per account, so that no account takes all places. */
const READERS_MAX = 100;
const READERS_OF_ONE_MAX = 25;
const LOOK_EVERY_MS = 500;
/** Limits of one message: a client that does not read keeps two messages in memory, for at most two minutes. */
const EVENTS_PER_LOOK_MAX = 500;
const UNITS_PER_LOOK_MAX = 256 * 1024;
/** Rows of all tenants per look, so that other queries do not wait long. */
const ROWS_PER_LOOK_MAX = 20_000;
/** Rows of all tenants that a client may be behind; beyond, it gets the number of events that it missed. */
const BEHIND_MAX = 1_000_000;
/** Concurrent looks in the reading thread; others wait. */
const LOOKS_AT_ONCE_MAX = 8;
/** Interval of keep-alive messages, because proxies close silent connections. */
const SILENCE_MS_MAX = 15_000;

/** New events, formatted. */
interface Look {
  readonly text: string;
  readonly lastRow: number;
  readonly hasMore: boolean;
}

export interface TailOptions {
  readonly scope: EventScope;
  /** The account against whose limit it counts. */
  readonly accountId: string;
  readonly lastEventId?: string | undefined;
  /** Ends after this time. */
  readonly forSeconds?: number | undefined;
}

export interface Tails<T extends TailedTable> {
  /** Ends all tails at their next look. */
  close(): void;
  /** Throws `rate_limited` if too many clients follow, of the account or in total. */
  open(where: Where<T>, options: TailOptions): AsyncIterableIterator<string>;
}

export interface TailDeps {
  readonly reads: EventReads;
  readonly clock: Clock;
}

type TailedTable = "security_events" | "requests";

/** The followed table. */
export interface TailSource<T extends TailedTable> {
  readonly table: T;
  /** Event name in the stream. */
  readonly event: string;
  idOf(row: EventTables[T]): string;
  view(row: EventTables[T]): object;
  /** Finds the row of an identifier by an index; null for an invalid identifier. */
  whereIs(id: string): Where<T> | null;
}

/**
 * Clients query new events since their last query, and nothing is buffered for them. Each gets all events of its scope
 * in order of arrival, unless it is too far behind: then `missed` is the number of events that it does not get, or null
 * if it reconnects with an unknown identifier.
 */
export function createTails<T extends TailedTable>({ reads, clock }: TailDeps, source: TailSource<T>, marks: RowMarks): Tails<T> {
  const seats = createStreamLimiter({ ofOne: READERS_OF_ONE_MAX, ofAll: READERS_MAX, takers: "clients", what: "follow events" });
  const closing = new AbortController();
  // Security events and requests have separate limits.
  const looks = createSemaphore(LOOKS_AT_ONCE_MAX, READERS_MAX);

  /**
   * Returns formatted text rather than rows, because it is held until the client reads it. If reading events fails, the
   * next look finds the rows.
   */
  const look = async (where: Where<T>, afterRow: number): Promise<Look> => {
    const bounds = {
      rowsMax: EVENTS_PER_LOOK_MAX,
      unitsMax: UNITS_PER_LOOK_MAX,
      lookedAtMax: ROWS_PER_LOOK_MAX,
      behindMax: BEHIND_MAX,
    };
    try {
      const found = await looks.run(() => reads.arrivals(source.table, { where, afterRow, ...bounds }));
      return { text: textOf(source, found), lastRow: found.lastRow, hasMore: found.hasMore };
    } catch (error) {
      if (error instanceof PlatformError && error.retryable) return { text: "", lastRow: afterRow, hasMore: false };
      throw error;
    }
  };

  async function* tail(where: Where<T>, { scope, lastEventId, forSeconds = Infinity }: TailOptions): AsyncGenerator<string> {
    const seen =
      lastEventId === undefined
        ? undefined
        : ((await looks.run(() => rowOf(reads, source, where, lastEventId))) ?? marks.read(lastEventId, scope)?.row_id);
    let afterRow = seen ?? (await looks.run(() => reads.lastRow(source.table)));
    /** The position with which a disconnected client returns. */
    const idText = (): string => `id: ${marks.write({ at_ms: 0, row_id: afterRow }, scope)}\n\n`;
    yield `: events follow\n${idText()}`;
    if (lastEventId !== undefined && seen === undefined) yield `event: missed\ndata: {"events":null}\n\n`;
    const endMs = clock.monotonicMs() + forSeconds * 1000;
    let spokenMs = clock.monotonicMs();
    while (!closing.signal.aborted) {
      const isLast = clock.monotonicMs() >= endMs;
      const { text, lastRow, hasMore } = await look(where, afterRow);
      afterRow = lastRow;
      if (text !== "" || clock.monotonicMs() - spokenMs >= SILENCE_MS_MAX) {
        yield text === "" ? `: nothing new\n${idText()}` : text;
        spokenMs = clock.monotonicMs();
      }
      // A disconnected client is only noticed when something is yielded; an empty text sends nothing.
      else yield "";
      if (isLast) return;
      if (!hasMore) await sleep(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  return {
    close: () => closing.abort(),
    open: (where, options) => seats.hold(options.accountId, tail(where, options)),
  };
}

function textOf<T extends TailedTable>({ event, idOf, view }: TailSource<T>, { rows, passedOver, isAtLeast }: RowsSince<T>): string {
  const shown = rows.map((row) => `id: ${idOf(row)}\nevent: ${event}\ndata: ${JSON.stringify(view(row))}\n\n`);
  const missed = passedOver === 0 && !isAtLeast ? "" : missedText(passedOver, isAtLeast);
  return missed + shown.join("");
}

const missedText = (events: number, isAtLeast: boolean): string =>
  `event: missed\ndata: ${JSON.stringify({ events, ...(isAtLeast ? { at_least: true } : {}) })}\n\n`;

/** The row of the event that the client saw last; undefined if it no longer exists, or never did. */
async function rowOf<T extends TailedTable>(
  reads: EventReads,
  { table, whereIs }: TailSource<T>,
  where: Where<T>,
  lastEventId: string,
): Promise<number | undefined> {
  const is = whereIs(lastEventId);
  return is === null ? undefined : (await reads.page(table, { where: [...where, ...is], limit: 1 })).last?.row_id;
}
