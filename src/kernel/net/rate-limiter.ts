import type { Clock } from "#kernel/clock.ts";
import { parseIp } from "./ip.ts";
import { type SharedLimit, type SharedLimits, UNSHARED } from "./shared-limits.ts";

/** The remaining quota of a caller's window. */
export interface RateLimitState {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends; at least 1. */
  readonly resetSeconds: number;
  readonly resetMs: number;
}

/** Counts requests per key in windows that start with the key's first request. */
export interface RateLimiter {
  /** Counts one request, unless it exceeds the limit. Null without a limit. */
  take(key: string): RateLimitState | null;
  /** The quota without counting. */
  look(key: string): RateLimitState | null;
  /**
   * Counts one attempt before its outcome is known, because attempts that run at the same time are as many guesses. Null without a
   * limit.
   */
  hold(key: string): HeldAttempt | null;
  /** Waits until a strict limit can be counted with other machines; undefined if `take` needs no wait. */
  ready(key: string): Promise<void> | undefined;
}

export interface HeldAttempt {
  readonly state: RateLimitState;
  /** For an attempt that does not count after all. */
  giveBack(): void;
}

export interface RateLimitConfig {
  /** 0 = no limit. */
  readonly requests: number;
  readonly periodSeconds: number;
}

/** Limit of keys; above it, the oldest window is forgotten. */
const KEYS_MAX = 50_000;

interface Window {
  /** Monotonic time, because setting back the wall clock would extend windows. */
  readonly endsMs: number;
  used: number;
}

/** A subject of limits that other machines count, too. */
export interface SharedSubject {
  readonly limits: SharedLimits;
  readonly name: string;
  /** Callers wait for `ready`, and no machine passes an attempt before the others know of it: for limits of a few guesses. */
  readonly isStrict?: boolean;
}

const OWN: SharedSubject = { limits: UNSHARED, name: "" };

/** Reads `config` at each call, because it may change at runtime. */
export function createRateLimiter(config: RateLimitConfig, clock: Clock, shared: SharedSubject = OWN): RateLimiter {
  const periodMs = (): number => config.periodSeconds * 1000;
  const windows = new Map<string, Window>();
  const current = (key: string, nowMs: number): Window | undefined => {
    const window = windows.get(key);
    return window && window.endsMs > nowMs ? window : undefined;
  };
  const open = (key: string, nowMs: number): Window => {
    // Deleted first, so that the map keeps the order in which windows began.
    windows.delete(key);
    if (windows.size >= KEYS_MAX) windows.delete(windows.keys().next().value ?? key);
    const window = { endsMs: nowMs + periodMs(), used: 0 };
    windows.set(key, window);
    return window;
  };
  const sharedKey = (key: string): string => `${shared.name}\0${key}`;
  const sharedLimit = (): SharedLimit => ({
    ...{ limit: config.requests, windowMs: periodMs(), technique: "fixed" },
    ...(shared.isStrict === true ? { isStrict: true } : {}),
  });
  const isFree = (key: string, amount: number): boolean => shared.limits.take(sharedKey(key), amount, sharedLimit()) === "yes";
  const standing = (window: Window, allowed: boolean, nowMs: number): RateLimitState => ({
    allowed,
    limit: config.requests,
    remaining: allowed ? Math.max(0, config.requests - window.used) : 0,
    resetSeconds: Math.max(1, Math.ceil((window.endsMs - nowMs) / 1000)),
    resetMs: clock.nowMs() + window.endsMs - nowMs,
  });
  const hold = (key: string): HeldAttempt | null => {
    if (config.requests === 0) return null;
    const nowMs = clock.monotonicMs();
    const window = current(key, nowMs) ?? open(key, nowMs);
    const allowed = window.used < config.requests && isFree(key, 1);
    if (allowed) window.used++;
    const sharedWindow = shared.limits.windowOf(sharedKey(key));
    return {
      state: standing(window, allowed, nowMs),
      giveBack: () => {
        if (!allowed) return;
        window.used--;
        shared.limits.giveBack(sharedKey(key), 1, sharedWindow);
      },
    };
  };
  return {
    hold,
    ready: (key) => (shared.isStrict === true && config.requests > 0 ? shared.limits.ready(sharedKey(key), 1, sharedLimit()) : undefined),
    take: (key) => hold(key)?.state ?? null,
    look: (key) => {
      if (config.requests === 0) return null;
      const nowMs = clock.monotonicMs();
      const window = current(key, nowMs) ?? { endsMs: nowMs + periodMs(), used: 0 };
      return standing(window, window.used < config.requests && isFree(key, 0), nowMs);
    },
  };
}

/** Limit of failed logins per address, against guessing of secrets. */
export const FAILURES_PER_ADDRESS: RateLimitConfig = { requests: 300, periodSeconds: 300 };

/**
 * Whether a secret is as long as the ones that this program generates, which cannot be guessed. Such a secret is checked
 * even if its address has too many failures, so that other clients cannot lock its owner out; shorter ones, which
 * operators choose, are not.
 */
export const isBeyondGuessing = (secret: string): boolean => secret.length >= BEYOND_GUESSING_CHARS;

/** 128 bits if each character is one of 16. */
const BEYOND_GUESSING_CHARS = 32;

/** The /64 of an IPv6 address, because a client usually controls all of it. */
export function addressKey(ip: string): string {
  const address = parseIp(ip);
  return address?.family === 6 ? Buffer.from(address.bytes.subarray(0, 8)).toString("hex") : ip;
}
