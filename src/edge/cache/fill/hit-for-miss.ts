import type { CacheStatus } from "#edge/exchange/cache-decision.ts";

/** Keys of responses that cannot be shared: requests for them do not wait for each other (hit-for-miss). */
export interface Refusals {
  add(key: string, status: CacheStatus, nowMs: number, keptMs: number): void;
  find(key: string, nowMs: number): CacheStatus | null;
  /** The response can be shared after all. */
  drop(key: string): void;
  clear(): void;
}

const KEYS_MAX = 10_000;

export function createRefusals(): Refusals {
  const byKey = new Map<string, { readonly status: CacheStatus; readonly untilMs: number }>();
  return {
    add: (key, status, nowMs, keptMs) => {
      byKey.delete(key);
      byKey.set(key, { status, untilMs: nowMs + keptMs });
      if (byKey.size > KEYS_MAX) byKey.delete(byKey.keys().next().value!);
    },
    find: (key, nowMs) => {
      const found = byKey.get(key);
      if (found === undefined) return null;
      if (nowMs < found.untilMs) return found.status;
      byKey.delete(key);
      return null;
    },
    drop: (key) => void byKey.delete(key),
    clear: () => byKey.clear(),
  };
}
