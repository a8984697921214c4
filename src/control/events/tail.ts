import { setTimeout as sleep } from "node:timers/promises";
import type { Arrivals } from "#events/read/rows-since.ts";
import type { EventReads } from "#events/read/read-client.ts";
import type { EventTables } from "#events/rows/rows.ts";
import type { Where } from "#events/sql/where-sql.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createSemaphore } from "#kernel/semaphore.ts";
import type { EventScope } from "./event-filter.ts";
import type { RowMarks } from "./row-marks.ts";
import { createStreamLimiter } from "./stream-limiter.ts";

/** Readers of what comes, at the same time: of all accounts, and of one, so that none takes all places. */
const READERS_MAX = 100;
const READERS_OF_ONE_MAX = 25;
const LOOK_EVERY_MS = 500;
/** Events that are sent in one go, and their text: a reader that does not read keeps two such texts in memory, for two minutes at most. */
const EVENTS_PER_LOOK_MAX = 500;
const UNITS_PER_LOOK_MAX = 256 * 1024;
/** Rows of all tenants that are looked at in one go, so that nobody else's questions wait long for it. */
const ROWS_PER_LOOK_MAX = 20_000;
/** Rows of all tenants that a reader may be behind before it is told what it missed instead. */
const BEHIND_MAX = 1_000_000;
/** Looks that wait for the thread that reads at the same time; others wait for these. */
const LOOKS_AT_ONCE_MAX = 8;
/** Proxies close connections on which nothing is sent. */
const SILENCE_MS_MAX = 15_000;

/** What has arrived, as it is sent. */
interface Look {
  readonly text: string;
  readonly lastRow: number;
  readonly hasMore: boolean;
}

export interface TailOptions {
  readonly scope: EventScope;
  /** The account whose places it takes. */
  readonly accountId: string;
  readonly lastEventId?: string | undefined;
  /** Ends after this time. */
  readonly forSeconds?: number | undefined;
}

export interface Tails<T extends TailedTable> {
  /** Ends all of them, with their next look. */
  close(): void;
  /** Throws `rate_limited` when too many read already, of the account or of all. */
  open(where: Where<T>, options: TailOptions): AsyncIterable<string>;
}

export interface TailDeps {
  readonly reads: EventReads;
  readonly clock: Clock;
}

type TailedTable = "security_events" | "requests";

/** What is followed. */
export interface TailSource<T extends TailedTable> {
  readonly table: T;
  /** Of each event of the stream. */
  readonly event: string;
  idOf(row: EventTables[T]): string;
  view(row: EventTables[T]): object;
  /** Finds the row of an identifier by an index; null for what is none. */
  whereIs(id: string): Where<T> | null;
}

/**
 * Readers of live events look for what has arrived since they last looked, and nothing is kept for any of them. Each gets all of
 * its scope, in order of arrival, unless it is further behind than the bound: then `missed` says how many it does not get, and null
 * where it comes back with an identifier that nobody knows any more.
 */
export function createTails<T extends TailedTable>({ reads, clock }: TailDeps, source: TailSource<T>, marks: RowMarks): Tails<T> {
  const seats = createStreamLimiter({ ofOne: READERS_OF_ONE_MAX, ofAll: READERS_MAX, takers: "clients", what: "follow events" });
  const closing = new AbortController();
  // Readers of security events and of requests have their own places.
  const looks = createSemaphore(LOOKS_AT_ONCE_MAX, READERS_MAX);

  /**
   * Gives text and no rows: what waits for its reader is held until that reads. Where the events cannot be read just now, the next look finds
   * what this one did not.
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

  async function* tail(where: Where<T>, { scope, accountId, lastEventId, forSeconds = Infinity }: TailOptions): AsyncGenerator<string> {
    const leave = seats.take(accountId);
    try {
      const seen =
        lastEventId === undefined
          ? undefined
          : ((await looks.run(() => rowOf(reads, source, where, lastEventId))) ?? marks.read(lastEventId, scope)?.row_id);
      let afterRow = seen ?? (await looks.run(() => reads.lastRow(source.table)));
      /** Who is cut off comes back with this. */
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
        // A reader that has left is noticed where something is given to it: an empty text is nothing on its connection.
        else yield "";
        if (isLast) return;
        if (!hasMore) await sleep(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    } finally {
      leave();
    }
  }

  return {
    close: () => closing.abort(),
    open: (where, options) => {
      seats.look(options.accountId);
      return tail(where, options);
    },
  };
}

function textOf<T extends TailedTable>({ event, idOf, view }: TailSource<T>, { rows, passedOver, isAtLeast }: Arrivals<T>): string {
  const shown = rows.map((row) => `id: ${idOf(row)}\nevent: ${event}\ndata: ${JSON.stringify(view(row))}\n\n`);
  const missed = passedOver === 0 && !isAtLeast ? "" : missedText(passedOver, isAtLeast);
  return missed + shown.join("");
}

const missedText = (events: number, isAtLeast: boolean): string =>
  `event: missed\ndata: ${JSON.stringify({ events, ...(isAtLeast ? { at_least: true } : {}) })}\n\n`;

/** The row of the event that the reader saw last; undefined where that is not there any more, or never was. */
async function rowOf<T extends TailedTable>(
  reads: EventReads,
  { table, whereIs }: TailSource<T>,
  where: Where<T>,
  lastEventId: string,
): Promise<number | undefined> {
  const is = whereIs(lastEventId);
  return is === null ? undefined : (await reads.page(table, { where: [...where, ...is], limit: 1 })).last?.row_id;
}
