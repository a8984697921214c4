import type { IsoDate } from "#kernel/clock.ts";

/** How often one caller used one route in a way that a row will end. */
export interface DeprecatedCalls {
  readonly day: IsoDate;
  /** Empty for routes of no account. */
  readonly account_id: string;
  readonly deprecation_id: string;
  readonly token_id: string;
  readonly route: string;
  readonly calls: number;
}

export interface CallCounter {
  count(call: Omit<DeprecatedCalls, "calls">): void;
  /** Writes what has been counted; the counts are kept for the next time where it fails. */
  flush(): Promise<void>;
  /** Flushes and stops the timer. */
  close(): Promise<void>;
}

export interface CallCounterDeps {
  /** Adds to the counts that are stored. */
  save(rows: readonly DeprecatedCalls[]): Promise<void>;
  failed(error: unknown): void;
  readonly intervalMs: number;
}

/** More callers than this between two writes are not told apart further. */
const ROWS_MAX = 20_000;

export function createCallCounter({ save, failed, intervalMs }: CallCounterDeps): CallCounter {
  let counts = new Map<string, DeprecatedCalls>();
  const add = (row: DeprecatedCalls): void => {
    const key = `${row.day} ${row.account_id} ${row.deprecation_id} ${row.token_id} ${row.route}`;
    const known = counts.get(key);
    if (known) counts.set(key, { ...known, calls: known.calls + row.calls });
    else if (counts.size < ROWS_MAX) counts.set(key, row);
  };
  let writing: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => {
    writing = writing.then(async () => {
      if (counts.size === 0) return;
      const rows = [...counts.values()];
      counts = new Map();
      try {
        await save(rows);
      } catch (error) {
        rows.forEach(add);
        failed(error);
      }
    });
    return writing;
  };
  const timer = setInterval(() => void flush(), intervalMs);
  timer.unref();
  return {
    count: (call) => add({ ...call, calls: 1 }),
    flush,
    close: () => {
      clearInterval(timer);
      return flush();
    },
  };
}
