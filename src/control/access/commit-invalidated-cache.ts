import type { Clock } from "#kernel/clock.ts";
import type { Store } from "#store/database/store.ts";

/**
 * Values read from the store, kept only as long as nothing can have changed them: a commit of this process
 * ends them all at once, one of another node after `AGE_MS_MAX`. Absence is never kept.
 */
export interface CommitInvalidatedCache<V> {
  get(key: string): Promise<V | undefined>;
  /** The value that is or was here not long ago. It may be out of date: a store that cannot be read takes nothing away. */
  familiar(key: string): V | undefined;
  /** Ends the values that `matches`, before their time. */
  drop(matches: (value: V) => boolean): void;
  close(): void;
}

export interface CommitInvalidatedCacheDeps<V> {
  readonly store: Pick<Store, "onCommit">;
  readonly clock: Clock;
  readonly entriesMax: number;
  load(key: string): Promise<V | undefined>;
}

/** Other nodes' commits are noticed by polling, which takes as long. */
const AGE_MS_MAX = 1000;
const NEVER_MS = Number.NEGATIVE_INFINITY;

interface Entry<V> {
  readonly generation: number;
  /** When the value has to be read again; at once where that has failed. */
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
