/** What is to be told to many, each until it has heard it. Keyed by text; what is under way for a key is told once more. */
export interface NotifyQueue<T> {
  /** Tells it at once, or as soon as what is being told of the same key has been heard, but not more often than NOTICE_GAP_MS. */
  give(key: string, notice: T): void;
  /** What is under way or waits. */
  readonly open: number;
  close(): void;
}

/** Waits for an answer after each try, in milliseconds: long enough together for a restart of the other side. */
export const NOTICE_WAITS_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000] as const;
/** Changes come faster than zones can be fetched: what follows within this time is told together. */
export const NOTICE_GAP_MS = 200;

/** Notices told at a time; others wait for their turn. */
const ACTIVE_MAX = 1_000;

interface Open<T> {
  notice: T;
  /** There is news since it was last told. */
  again: boolean;
  /** Ends the wait for an answer. */
  hurry(): void;
}

export interface NotifyQueueDeps<T> {
  /** One try; true where it has been heard, or never will be. */
  tell(notice: T, timeoutMs: number): Promise<boolean>;
  /** Nobody has answered. */
  gaveUp(notice: T): void;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export function createNotifyQueue<T>({ tell, gaveUp, sleep }: NotifyQueueDeps<T>): NotifyQueue<T> {
  const open = new Map<string, Open<T>>();
  const queue: string[] = [];
  const closing = new AbortController();
  let active = 0;

  /** Told again soon, and from the first wait on, where there is news meanwhile: the peer may be back. */
  const untilHeard = async (entry: Open<T>): Promise<void> => {
    for (let tries = 0; tries < NOTICE_WAITS_MS.length && !closing.signal.aborted; tries++) {
      if (entry.again) tries = 0;
      entry.again = false;
      const { promise: hurried, resolve } = Promise.withResolvers<boolean>();
      entry.hurry = () => resolve(false);
      // What fails here counts like an answer that did not come.
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
