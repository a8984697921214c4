import type { Clock } from "#kernel/clock.ts";
import type { Store } from "#store/store.ts";

/**
 * Values read from the store, kept only as long as nothing can have changed them: a commit of this process
 * ends them all at once, one of another node after `AGE_MS_MAX`. Absence is never kept.
 */
export interface FreshCache<V> {
  get(key: string): Promise<V | undefined>;
  /** Whether a value is or was here not long ago; it may be out of date. */
  isFamiliar(key: string): boolean;
  /** Ends the values that `matches`, before their time. */
  drop(matches: (value: V) => boolean): void;
  close(): void;
}

export interface FreshCacheDeps<V> {
  readonly store: Store;
  readonly clock: Clock;
  readonly entriesMax: number;
  load(key: string): Promise<V | undefined>;
}

/** Other nodes' commits are noticed by polling, which takes as long. */
const AGE_MS_MAX = 1000;

interface Entry<V> {
  readonly generation: number;
  readonly untilMs: number;
  readonly loading: Promise<V | undefined>;
  value: V | undefined;
}

export function createFreshCache<V>(deps: FreshCacheDeps<V>): FreshCache<V> {
  const entries = new Map<string, Entry<V>>();
  let generation = 0;
  const unsubscribe = deps.store.onCommit(() => {
    generation++;
  });

  function start(key: string): Entry<V> {
    const entry: Entry<V> = { generation, untilMs: deps.clock.monotonicMs() + AGE_MS_MAX, loading: deps.load(key), value: undefined };
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > deps.entriesMax) entries.delete(entries.keys().next().value ?? key);
    const forget = (): void => {
      if (entries.get(key) === entry) entries.delete(key);
    };
    entry.loading.then((value) => {
      entry.value = value;
      if (value === undefined) forget();
    }, forget);
    return entry;
  }

  return {
    get: (key) => {
      const known = entries.get(key);
      if (known && known.generation === generation && known.untilMs > deps.clock.monotonicMs()) return known.loading;
      return start(key).loading;
    },
    isFamiliar: (key) => entries.get(key)?.value !== undefined,
    drop: (matches) => {
      for (const [key, entry] of entries) if (entry.value === undefined || matches(entry.value)) entries.delete(key);
    },
    close: unsubscribe,
  };
}
