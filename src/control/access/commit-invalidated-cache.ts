import type { Clock } from "#kernel/clock.ts";
import type { Store } from "#store/database/store.ts";

/**
 * Caches values from the store. A commit of this process invalidates all of them; a commit of another node within
 * `AGE_MS_MAX`. Missing values are not cached.
 */
export interface CommitInvalidatedCache<V> {
  get(key: string): Promise<V | undefined>;
  /** The last known value, possibly outdated, for use while the store cannot be read. */
  familiar(key: string): V | undefined;
  /** Drops the values that match. */
  drop(matches: (value: V) => boolean): void;
  close(): void;
}

export interface CommitInvalidatedCacheDeps<V> {
  readonly store: Pick<Store, "onCommit">;
  readonly clock: Clock;
  readonly entriesMax: number;
  load(key: string): Promise<V | undefined>;
}

/** Commits of other nodes are found by polling, which takes up to this long. */
const AGE_MS_MAX = 1000;
const NEVER_MS = Number.NEGATIVE_INFINITY;

interface Entry<V> {
  readonly generation: number;
  /** When the value must be read again; immediately after a failed read. */
  untilMs: number;
  readonly loading: Promise<V | undefined>;
  value: V | undefined;
}

export function createCommitInvalidatedCache<V>(deps: CommitInvalidatedCacheDeps<V>): CommitInvalidatedCache<V> {
  const entries = new Map<string, Entry<V>>();
  let generation = 0;
  const unsubscribe = deps.store.onCommit(() => {
    generation++;
  });

  function start(key: string): Entry<V> {
    const before = entries.get(key);
    const untilMs = deps.clock.monotonicMs() + AGE_MS_MAX;
    const entry: Entry<V> = { generation, untilMs, loading: deps.load(key), value: before?.value };
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > deps.entriesMax) entries.delete(entries.keys().next().value ?? key);
    entry.loading.then(
      (value) => {
        entry.value = value;
        if (value === undefined && entries.get(key) === entry) entries.delete(key);
      },
      () => {
        entry.untilMs = NEVER_MS;
        if (entry.value === undefined && entries.get(key) === entry) entries.delete(key);
      },
    );
    return entry;
  }

  return {
    get: (key) => {
      const known = entries.get(key);
      if (known && known.generation === generation && known.untilMs > deps.clock.monotonicMs()) return known.loading;
      return start(key).loading;
    },
    familiar: (key) => entries.get(key)?.value,
    drop: (matches) => {
      for (const [key, entry] of entries) if (entry.value === undefined || matches(entry.value)) entries.delete(key);
    },
    close: unsubscribe,
  };
}
