/**
 * Notices that are sent repeatedly until their receiver acknowledges them. Keyed by text; a new notice for a pending key
 * is sent once more.
 */
export interface NotifyQueue<T> {
  /**
   * Sends the notice at once, or after the pending one of the same key is acknowledged, but not more often than
   * NOTICE_GAP_MS.
   */
  give(key: string, notice: T): void;
  /** Number of pending notices. */
  readonly open: number;
  close(): void;
}

/**
 * Time to wait for an acknowledgement after each attempt, in milliseconds; together long enough for a restart of the
 * receiver.
 */
export const NOTICE_WAITS_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000] as const;
/** Changes may come faster than zones can be transferred, so those within this time are combined. */
export const NOTICE_GAP_MS = 200;

/** Concurrent notices; others wait. */
const ACTIVE_MAX = 1_000;

interface Open<T> {
  notice: T;
  /** A newer notice was given since the last attempt. */
  again: boolean;
  /** Ends the wait for an acknowledgement. */
  hurry(): void;
}

export interface NotifyQueueDeps<T> {
  /** One attempt; true if it was acknowledged, or never can be. */
  tell(notice: T, timeoutMs: number): Promise<boolean>;
  /** Called when all attempts were unanswered. */
  gaveUp(notice: T): void;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export function createNotifyQueue<T>({ tell, gaveUp, sleep }: NotifyQueueDeps<T>): NotifyQueue<T> {
  const open = new Map<string, Open<T>>();
  const queue: string[] = [];
  const closing = new AbortController();
  let active = 0;

  /** Sends until acknowledged. A newer notice restarts the attempts, because the peer may be back. */
  const untilHeard = async (entry: Open<T>): Promise<void> => {
    for (let tries = 0; tries < NOTICE_WAITS_MS.length && !closing.signal.aborted; tries++) {
      if (entry.again) tries = 0;
      entry.again = false;
      const { promise: hurried, resolve } = Promise.withResolvers<boolean>();
      entry.hurry = () => resolve(false);
      // An error counts like a missing acknowledgement.
      const told = tell(entry.notice, NOTICE_WAITS_MS[tries] as number).catch(() => false);
      if (await Promise.race([told, hurried])) return;
    }
    if (!closing.signal.aborted && !entry.again) gaveUp(entry.notice);
  };
  const run = async (key: string, entry: Open<T>): Promise<void> => {
    await untilHeard(entry);
    while (entry.again && !closing.signal.aborted) {
      await sleep(NOTICE_GAP_MS, closing.signal);
      await untilHeard(entry);
    }
    open.delete(key);
  };
  const next = (): void => {
    while (active < ACTIVE_MAX) {
      const key = queue.shift();
      const entry = key === undefined ? undefined : open.get(key);
      if (key === undefined || !entry) return;
      active += 1;
      void run(key, entry).finally(() => {
        active -= 1;
        next();
      });
    }
  };

  return {
    give: (key, notice) => {
      const known = open.get(key);
      if (known) {
        if (!known.again) void sleep(NOTICE_GAP_MS, closing.signal).then(() => known.again && known.hurry());
        Object.assign(known, { notice, again: true });
      } else if (!closing.signal.aborted) {
        open.set(key, { notice, again: false, hurry: () => {} });
        queue.push(key);
        next();
      }
    },
    get open() {
      return open.size;
    },
    close: () => closing.abort(),
  };
}
