import type { IsoDate } from "#kernel/clock.ts";

/** Calls of one caller to one route, in a form that a row will end. */
export interface DeprecatedCalls {
  readonly day: IsoDate;
  /** Empty for routes without an account. */
  readonly account_id: string;
  readonly deprecation_id: string;
  readonly token_id: string;
  readonly route: string;
  readonly calls: number;
}

/** Calls of one caller to one route in one form (call-shape.ts), whether a row ends it or not. */
export interface ShapedCalls {
  readonly day: IsoDate;
  readonly account_id: string;
  readonly token_id: string;
  readonly route: string;
  /** A CallShape as JSON. */
  readonly shape: string;
  /** The caller's own API date, if it has one. */
  readonly api_date: IsoDate | null;
  readonly calls: number;
}

export interface CallCounter<Row extends { readonly calls: number }> {
  count(call: Omit<Row, "calls">): void;
  /** Writes the counts. If that fails, they are kept for the next time. */
  flush(): Promise<void>;
  /** Flushes and stops the timer. */
  close(): Promise<void>;
}

export interface CallCounterDeps<Row> {
  /** Adds the rows to the stored counts. */
  save(rows: readonly Row[]): Promise<void>;
  failed(error: unknown): void;
  readonly intervalMs: number;
}

/** Distinct rows between two writes; calls beyond them are not counted. */
const ROWS_MAX = 20_000;

/** Sums up calls that differ only in their number. */
export function createCallCounter<Row extends { readonly calls: number }>(deps: CallCounterDeps<Row>): CallCounter<Row> {
  const { save, failed, intervalMs } = deps;
  let counts = new Map<string, Row>();
  const add = (row: Row): void => {
    const key = keyOf(row);
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
    count: (call) => add({ ...call, calls: 1 } as Row),
    flush,
    close: () => {
      clearInterval(timer);
      return flush();
    },
  };
}

/** All members but the number, in the order in which the caller wrote them. */
const keyOf = (row: { readonly calls: number }): string => JSON.stringify({ ...row, calls: 0 });
