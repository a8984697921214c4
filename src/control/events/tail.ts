import { setTimeout as sleep } from "node:timers/promises";
import type { EventReads } from "#events/reads.ts";
import type { EventTables } from "#events/rows.ts";
import type { Where } from "#events/where-sql.ts";
import { PlatformError } from "#kernel/errors.ts";
import type { EventScope } from "./event-filter.ts";
import type { RowMarks } from "./row-marks.ts";

/** Readers of what comes, at the same time: of all accounts, and of one, so that none takes all places. */
const READERS_MAX = 100;
const READERS_OF_ONE_MAX = 25;
const LOOK_EVERY_MS = 500;
/** Rows of all zones that are looked at each time; a reader that takes less misses some. */
const ROWS_PER_LOOK_MAX = 5_000;
/** Proxies close connections on which nothing is sent. */
const SILENCE_MS_MAX = 15_000;

export interface TailOptions {
  readonly scope: EventScope;
  /** The account whose places it takes. */
  readonly accountId: string;
  readonly lastEventId?: string | undefined;
  /** Ends after this time. */
  readonly forMs?: number | undefined;
}

export interface Tails<T extends TailedTable> {
  /** Ends all of them, with their next look. */
  close(): void;
  /** Throws `rate_limited` when too many read already, of the account or of all. */
  open(where: Where<T>, options: TailOptions): AsyncIterable<string>;
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
 * Readers of live events look for what has arrived since they last looked. Nothing is kept for any of them: a slow one looks
 * later, and what came between beyond the bound is told it as a number: `missed`, with null where one comes back with an identifier
 * that nobody knows any more.
 */
export function createTails<T extends TailedTable>(reads: EventReads, source: TailSource<T>, marks: RowMarks): Tails<T> {
  const readers = new Map<string, number>();
  const closing = new AbortController();

  const sit = (accountId: string, seats: number): void => {
    const taken = (readers.get(accountId) ?? 0) + seats;
    if (taken === 0) readers.delete(accountId);
    else readers.set(accountId, taken);
  };

  async function* tail(where: Where<T>, { scope, accountId, lastEventId, forMs = Infinity }: TailOptions): AsyncGenerator<string> {
    sit(accountId, 1);
    try {
      const seen =
        lastEventId === undefined
          ? undefined
          : ((await rowOf(reads, source, where, lastEventId)) ?? marks.read(lastEventId, scope)?.row_id);
      let afterRow = seen ?? (await reads.lastRow(source.table));
      // Who is cut off before the first event comes back with this.
      yield `: events follow\nid: ${marks.write({ at_ms: 0, row_id: afterRow }, scope)}\n\n`;
      if (lastEventId !== undefined && seen === undefined) yield `event: missed\ndata: {"events":null}\n\n`;
      let silentMs = 0;
      for (let leftMs = forMs; ; leftMs -= LOOK_EVERY_MS) {
        const { rows, lastRow, passedOver } = await reads.arrivals(source.table, { where, afterRow, rowsMax: ROWS_PER_LOOK_MAX });
        afterRow = lastRow;
        const missed = passedOver === 0 ? "" : `event: missed\ndata: {"events":${passedOver}}\n\n`;
        const shown = rows.map((row) => `id: ${source.idOf(row)}\nevent: ${source.event}\ndata: ${JSON.stringify(source.view(row))}\n\n`);
        const text = missed + shown.join("");
        if (text !== "") yield text;
        else if (silentMs >= SILENCE_MS_MAX) yield ": nothing new\n\n";
        silentMs = text !== "" || silentMs >= SILENCE_MS_MAX ? 0 : silentMs + LOOK_EVERY_MS;
        if (leftMs <= 0 || closing.signal.aborted) return;
        await sleep(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    } finally {
      sit(accountId, -1);
    }
  }

  return {
    close: () => closing.abort(),
    open: (where, options) => {
      const all = readers.values().reduce((sum, taken) => sum + taken, 0);
      if (all >= READERS_MAX || (readers.get(options.accountId) ?? 0) >= READERS_OF_ONE_MAX)
        throw new PlatformError("rate_limited", {
          message: `No more than ${READERS_OF_ONE_MAX} clients of an account, and ${READERS_MAX} of all, can follow events at the same time.`,
        });
      return tail(where, options);
    },
  };
}

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
