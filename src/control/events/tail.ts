import { setTimeout as sleep } from "node:timers/promises";
import type { EventReads } from "#events/reads.ts";
import type { Where } from "#events/where-sql.ts";
import { PlatformError } from "#kernel/errors.ts";
import { ulidTimeMs } from "#kernel/ids.ts";
import { eventView } from "./event-view.ts";

/** Readers of what comes, at the same time. */
const READERS_MAX = 100;
const LOOK_EVERY_MS = 500;
/** Rows of all zones that are looked at each time; a reader that takes less misses some. */
const ROWS_PER_LOOK_MAX = 5_000;
/** Proxies close connections on which nothing is sent. */
const SILENCE_MS_MAX = 15_000;
/** An event is written some time after the moment that its identifier names. */
const WRITTEN_WITHIN_MS = 3_600_000;

export interface TailOptions {
  readonly lastEventId?: string | undefined;
  /** Ends after this time. */
  readonly forMs?: number | undefined;
}

export interface Tails {
  /** Ends all of them, with their next look. */
  close(): void;
  open(where: Where<"security_events">, options: TailOptions): AsyncIterable<string>;
}

/**
 * Readers of live events look for what has arrived since they last looked. Nothing is kept for any of them: a slow one looks
 * later, and what came between beyond the bound is told it as a number.
 */
export function createTails(reads: EventReads): Tails {
  let readers = 0;
  const closing = new AbortController();

  async function* tail(where: Where<"security_events">, { lastEventId, forMs = Infinity }: TailOptions): AsyncGenerator<string> {
    readers++;
    try {
      let afterRow = await startOf(reads, where, lastEventId);
      yield ": events follow\n\n";
      let silentMs = 0;
      for (let leftMs = forMs; ; leftMs -= LOOK_EVERY_MS) {
        const { rows, lastRow, passedOver } = await reads.arrivals("security_events", { where, afterRow, rowsMax: ROWS_PER_LOOK_MAX });
        afterRow = lastRow;
        const missed = passedOver === 0 ? "" : `event: missed\ndata: {"events":${passedOver}}\n\n`;
        const text =
          missed + rows.map((row) => `id: ${row.id}\nevent: security_event\ndata: ${JSON.stringify(eventView(row))}\n\n`).join("");
        if (text !== "") yield text;
        else if (silentMs >= SILENCE_MS_MAX) yield ": nothing new\n\n";
        silentMs = text !== "" || silentMs >= SILENCE_MS_MAX ? 0 : silentMs + LOOK_EVERY_MS;
        if (leftMs <= 0 || closing.signal.aborted) return;
        await sleep(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    } finally {
      readers--;
    }
  }

  return {
    close: () => closing.abort(),
    open: (where, options) => {
      if (readers >= READERS_MAX)
        throw new PlatformError("rate_limited", { message: `No more than ${READERS_MAX} clients can follow events at the same time.` });
      return tail(where, options);
    },
  };
}

/** The row behind which the reader goes on: that of the event it saw last, where that is still there. */
async function startOf(reads: EventReads, where: Where<"security_events">, lastEventId: string | undefined): Promise<number> {
  const ms = lastEventId === undefined ? undefined : ulidTimeMs(lastEventId);
  if (lastEventId !== undefined && ms !== undefined) {
    const { last } = await reads.page("security_events", {
      where: [
        ...where,
        { column: "at_ms", operator: "ge", value: ms - WRITTEN_WITHIN_MS },
        { column: "at_ms", operator: "le", value: ms },
        { column: "id", operator: "eq", value: lastEventId },
      ],
      limit: 1,
    });
    if (last !== null) return last.row_id;
  }
  return reads.lastRow("security_events");
}
