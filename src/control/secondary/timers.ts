import type { PrimaryApex } from "#model/dns/primary-copy.ts";

/** Limits of the intervals in the primary's SOA, in seconds, so that a mistake in it harms neither side. */
const REFRESH = { min: 60, max: 2_419_200 } as const;
const RETRY = { min: 60, max: 86_400 } as const;
const EXPIRE_MAX = 126_144_000;
/** The longest possible interval between two checks. */
export const CHECK_MS_MAX = REFRESH.max * 1000;
/** Before the first transfer the SOA is unknown: the interval doubles from the first value to the second. */
const FIRST_RETRY_SECONDS = 60;
const FIRST_RETRY_SECONDS_MAX = 3600;
/** Share of the interval by which it varies, so that zones that were created together are not always checked together. */
const JITTER = 0.1;

export interface TimerContext {
  readonly apex: PrimaryApex | null;
  readonly nowMs: number;
  /** Between 0 and 1. */
  readonly random: number;
}

const within = (value: number, { min, max }: { readonly min: number; readonly max: number }): number => Math.min(Math.max(value, min), max);

const jittered = (seconds: number, random: number): number => Math.round(seconds * 1000 * (1 - JITTER * random));

const refreshSeconds = ({ soa }: PrimaryApex): number => within(soa.refresh, REFRESH);
const retrySeconds = (apex: PrimaryApex): number => Math.min(within(apex.soa.retry, RETRY), refreshSeconds(apex));

/** Time of the next check after a peer has confirmed the zone (RFC 1035 §3.3.13, and the configured interval). */
export const nextRefreshMs = ({ apex, nowMs, random }: TimerContext, autoRefreshSeconds: number): number =>
  nowMs + jittered(Math.min(apex ? refreshSeconds(apex) : REFRESH.max, autoRefreshSeconds), random);

/** Time of the next attempt after all peers have failed, no later than the zone's expiry. `failures` includes this one. */
export function nextRetryMs({ apex, nowMs, random }: TimerContext, failures: number, expiresMs: number | null): number {
  const first = Math.min(FIRST_RETRY_SECONDS * 2 ** Math.min(failures - 1, 10), FIRST_RETRY_SECONDS_MAX);
  const next = nowMs + jittered(apex ? retrySeconds(apex) : first, random);
  return expiresMs !== null && expiresMs > nowMs ? Math.min(next, expiresMs) : next;
}

/**
 * When the zone expires unless a peer confirms it. Never before a retry: an SOA with a shorter expiry would disable the
 * zone at the first lost packet.
 */
export function expiresAtMs(apex: PrimaryApex | null, confirmedMs: number | null): number | null {
  if (!apex || confirmedMs === null) return null;
  return confirmedMs + Math.max(Math.min(apex.soa.expire, EXPIRE_MAX), refreshSeconds(apex) + retrySeconds(apex)) * 1000;
}
