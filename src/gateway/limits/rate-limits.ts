import type { Clock } from "#kernel/clock.ts";
import { type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";
import type { GatewayEntry } from "#snapshot/entries.ts";
import { createClockSteps } from "./clock-steps.ts";

/** Counts each gateway's requests against its limit. */
export interface RateLimits {
  /**
   * Counts a request and returns 0 if it is within the limit; otherwise returns the whole seconds until there is room for
   * one.
   */
  take(gateway: GatewayEntry): number;
  /** The same for anything else with a limit, by name. */
  takeFor(name: string, rate: RateLimit): number;
}

export type RateLimit = NonNullable<GatewayEntry["rate_limit"]>;

interface Window {
  startMs: number;
  count: number;
  /** Count of the previous window. */
  before: number;
  /** Steps of the clock before it was last used. */
  steps: number;
}

/** Gateways that are counted; beyond that, the least recently used one is forgotten. */
const WINDOWS_MAX = 10_000;

/**
 * `fixed` windows begin at multiples of the interval. A `sliding` window also counts the share of the previous window
 * that lies within the last interval, as if its requests had been spread evenly.
 */
export function createRateLimits(deps: { readonly clock: Clock; readonly sharedLimits?: SharedLimits }): RateLimits {
  const { clock, sharedLimits = UNSHARED } = deps;
  const windows = new Map<string, Window>();
  const stepsOf = createClockSteps(clock);

  const windowOf = (key: string, nowMs: number, intervalMs: number): Window => {
    const startMs = nowMs - (nowMs % intervalMs);
    const steps = stepsOf();
    let window = windows.get(key);
    if (window === undefined) {
      const [oldest] = windows.size < WINDOWS_MAX ? [] : windows.keys();
      if (oldest !== undefined) windows.delete(oldest);
      window = { startMs, count: 0, before: 0, steps };
    } else {
      windows.delete(key);
      if (window.steps !== steps) {
        window.startMs = startMs;
        window.steps = steps;
      } else if (window.startMs !== startMs) {
        // Starts from zero after an interval without requests.
        window.before = window.startMs === startMs - intervalMs ? window.count : 0;
        window.count = 0;
        window.startMs = startMs;
      }
    }
    windows.set(key, window);
    return window;
  };

  const takeFor = (name: string, { limit, interval_seconds, technique }: RateLimit): number => {
    const intervalMs = interval_seconds * 1000;
    const nowMs = clock.nowMs();
    const window = windowOf(name, nowMs, intervalMs);
    const elapsedMs = nowMs - window.startMs;
    const carried = technique === "sliding" ? window.before * (1 - elapsedMs / intervalMs) : 0;
    if (window.count + carried + 1 <= limit) {
      const answer = sharedLimits.take(name, 1, { limit, windowMs: intervalMs, technique });
      if (answer === "yes") {
        window.count++;
        return 0;
      }
      return answer === "perhaps" ? 1 : Math.max(1, Math.ceil((intervalMs - elapsedMs) / 1000));
    }
    return Math.max(1, Math.ceil(waitMs(window, limit, technique, elapsedMs, intervalMs) / 1000));
  };
  return {
    take: ({ account_id, gateway_id, rate_limit }) => (rate_limit === undefined ? 0 : takeFor(`${account_id}/${gateway_id}`, rate_limit)),
    takeFor,
  };
}

function waitMs({ count, before }: Window, limit: number, technique: "fixed" | "sliding", elapsedMs: number, intervalMs: number): number {
  const restMs = intervalMs - elapsedMs;
  if (technique === "fixed") return restMs;
  // Within this window the previous window's share shrinks; in the next window this window's count does.
  if (count + 1 <= limit && before > 0) return (1 - (limit - count - 1) / before) * intervalMs - elapsedMs;
  return restMs + Math.max(0, 1 - (limit - 1) / count) * intervalMs;
}
