import type { Clock } from "#kernel/clock.ts";
import type { FeedLog, FullCopy } from "./feed.ts";
import { writeLastGood } from "./last-good.ts";

/** Writes the last good copy some time after changes, one write at a time. */
export interface LastGoodKeeper {
  /** There is something newer than the copy on disk. */
  changed(): void;
  /** Writes at once when there is something newer; failures are logged. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface LastGoodKeeperDeps {
  readonly path: string;
  readonly clock: Clock;
  readonly log: FeedLog;
  full(): Promise<FullCopy>;
}

const DELAY_MS = 500;
/** Under steady change, writing takes at most one part in twenty of the time. */
const REST_FACTOR = 20;
const RETRY_MS = 10_000;

export function createLastGoodKeeper({ path, clock, log, full }: LastGoodKeeperDeps): LastGoodKeeper {
  let dirty = false;
  let closed = false;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let restMs = 0;

  const write = async (): Promise<void> => {
    const start = clock.monotonicMs();
    dirty = false;
    try {
      await writeLastGood(path, await full());
      restMs = (clock.monotonicMs() - start) * REST_FACTOR;
    } catch (error) {
      dirty = true;
      restMs = RETRY_MS;
      log("error", "the last good copy could not be written", { path, reason: String(error) });
    }
    writing = null;
  };
  const flush = async (): Promise<void> => {
    while (writing) await writing;
    if (dirty) await (writing = write());
  };
  const schedule = (): void => {
    if (timer !== null || closed) return;
    timer = setTimeout(
      () => {
        timer = null;
        // A write that failed, or that changes overtook, is due again.
        void flush().then(() => dirty && schedule());
      },
      Math.max(DELAY_MS, restMs),
    );
  };

  return {
    changed: () => {
      dirty = true;
      schedule();
    },
    flush,
    close: async () => {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await flush();
    },
  };
}
