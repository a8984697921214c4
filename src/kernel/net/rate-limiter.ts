import type { Clock } from "#kernel/clock.ts";
import { parseIp } from "./ip.ts";

/** How much a caller has left of its window. */
export interface Standing {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the window ends; at least 1. */
  readonly resetSeconds: number;
  readonly resetMs: number;
}

/** Counts requests by key in windows that begin with a key's first request. */
export interface RateLimiter {
  /** Counts one; a request beyond the limit is not counted. Null where there is no limit. */
  take(key: string): Standing | null;
  /** The standing without counting. */
  look(key: string): Standing | null;
}

export interface RateLimitConfig {
  /** 0 = no limit. */
  readonly requests: number;
  readonly periodSeconds: number;
}

/** Callers counted at a time; beyond that the one whose window began first is forgotten. */
const KEYS_MAX = 50_000;

interface Window {
  /** On the clock's monotonic scale: a wall clock that is set back would hold callers up for as long. */
  readonly endsMs: number;
  used: number;
}

/** `config` is read at each call: it may change while the server runs. */
export function createRateLimiter(config: RateLimitConfig, clock: Clock): RateLimiter {
  const periodMs = (): number => config.periodSeconds * 1000;
  const windows = new Map<string, Window>();
  const current = (key: string, nowMs: number): Window | undefined => {
    const window = windows.get(key);
    return window && window.endsMs > nowMs ? window : undefined;
  };
  const open = (key: string, nowMs: number): Window => {
    // Deleted first, so that the map's order stays the order in which windows began.
    windows.delete(key);
    if (windows.size >= KEYS_MAX) windows.delete(windows.keys().next().value ?? key);
    const window = { endsMs: nowMs + periodMs(), used: 0 };
    windows.set(key, window);
    return window;
  };
  const standing = (window: Window, allowed: boolean, nowMs: number): Standing => ({
    allowed,
    limit: config.requests,
    remaining: Math.max(0, config.requests - window.used),
    resetSeconds: Math.max(1, Math.ceil((window.endsMs - nowMs) / 1000)),
    resetMs: clock.nowMs() + window.endsMs - nowMs,
  });
  return {
    take: (key) => {
      if (config.requests === 0) return null;
      const nowMs = clock.monotonicMs();
      const window = current(key, nowMs) ?? open(key, nowMs);
      const allowed = window.used < config.requests;
      if (allowed) window.used++;
      return standing(window, allowed, nowMs);
    },
    look: (key) => {
      if (config.requests === 0) return null;
      const nowMs = clock.monotonicMs();
      const window = current(key, nowMs) ?? { endsMs: nowMs + periodMs(), used: 0 };
      return standing(window, window.used < config.requests, nowMs);
    },
  };
}

/** Wrong credentials of one form from one address, so that secrets cannot be guessed at speed. */
export const FAILURES_PER_ADDRESS: RateLimitConfig = { requests: 300, periodSeconds: 300 };

/** Whoever has one IPv6 address has its whole /64. */
export function addressKey(ip: string): string {
  const address = parseIp(ip);
  return address?.family === 6 ? Buffer.from(address.bytes.subarray(0, 8)).toString("hex") : ip;
}
