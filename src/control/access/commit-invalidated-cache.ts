import type { Clock } from "#kernel/clock.ts";
import type { Store } from "#store/database/store.ts";

/**
 * Caches values from the store. A commit of this process invalidates all of them, unless it only wrote what no value is made of; a commit of
 * another node within `AGE_MS_MAX`. Missing values are not cached.
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
/** Data of the most frequent writes, which no credential, account or zone's place in one is made of. */
const UNRELATED: ReadonlySet<string> = new Set([
  "dns_records",
  "dns_record_tags",
  "dns_record_counts",
  "dns_versions",
  "dns_version_parts",
  "zones.serial",
  "zones.record_count",
  "zones.dns_version_count",
]);
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
  const unsubscribe = deps.store.onCommit((written) => {
    if (written === undefined || written.values().some((name) => !UNRELATED.has(name))) generation++;
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
