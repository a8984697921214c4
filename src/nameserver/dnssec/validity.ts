import type { NameKey } from "#wire/dns/name.ts";
import type { Validity } from "#wire/dns/rrsig.ts";

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Lifetime of signatures, varied a little per set so that they do not all expire at the same time. */
const SIGNATURE_SECONDS = 14 * DAY_SECONDS;
const JITTER_SECONDS = 2 * DAY_SECONDS;
/** Inception lies this far in the past, for resolvers whose clocks are slow. */
const SKEW_SECONDS = HOUR_SECONDS;
/**
 * Remaining lifetime at which a signature is replaced: more than the week for which secondaries keep a zone that they
 * cannot refresh (SPEC 2.4, RFC 6781 §4.4.2), and more than any TTL.
 */
const RENEWAL_SECONDS = 7.5 * DAY_SECONDS;

/** The time in which a signature may be used, in milliseconds since the Unix epoch. */
export interface Freshness {
  readonly fromMs: number;
  readonly untilMs: number;
}

export const ALWAYS_FRESH: Freshness = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };

/** The time in which both are fresh. */
export const freshness = (a: Freshness, b: Freshness): Freshness => ({
  fromMs: Math.max(a.fromMs, b.fromMs),
  untilMs: Math.min(a.untilMs, b.untilMs),
});

/** After a clock was set back, the inception of older signatures lies in the future: they are not fresh either. */
export const isFresh = ({ fromMs, untilMs }: Freshness, nowMs: number): boolean => nowMs >= fromMs && nowMs < untilMs;

/** Validity of a signature made now, and the time in which it may be used. */
export function validityAt(nowMs: number, owner: NameKey, type: number): { readonly validity: Validity; readonly fresh: Freshness } {
  const now = Math.floor(nowMs / 1000);
  const jitter = Math.floor((2 * hash(owner, type) - 1) * JITTER_SECONDS);
  const validity = { inception: now - SKEW_SECONDS, expiration: now + SIGNATURE_SECONDS + jitter };
  return {
    validity,
    fresh: { fromMs: validity.inception * 1000, untilMs: (validity.expiration - RENEWAL_SECONDS) * 1000 },
  };
}

/** A number from 0 to 1 (exclusive) that is always the same for a set (FNV-1a). */
function hash(owner: NameKey, type: number): number {
  let sum = 0x811c9dc5 ^ type;
  for (let i = 0; i < owner.length; i++) sum = Math.imul(sum ^ owner.charCodeAt(i), 0x01000193);
  return (sum >>> 0) / 2 ** 32;
}
