import type { NameKey } from "#wire/dns/name.ts";
import type { Validity } from "#wire/dns/rrsig.ts";

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** How long signatures hold, a little more or less for each set, so that not all are made anew at once. */
const SIGNATURE_SECONDS = 14 * DAY_SECONDS;
const JITTER_SECONDS = 2 * DAY_SECONDS;
/** Resolvers whose clocks are slow take a signature that is this old at its birth. */
const SKEW_SECONDS = HOUR_SECONDS;
/**
 * What is left of a signature when it is made anew: more than the week for which secondaries keep a zone that they cannot
 * refresh (SPEC 2.4, RFC 6781 §4.4.2), and more than any TTL.
 */
const RENEWAL_SECONDS = 7.5 * DAY_SECONDS;

/** The time in which a signature may be handed out, in milliseconds since the Unix epoch. */
export interface Freshness {
  readonly fromMs: number;
  readonly untilMs: number;
}

export const ALWAYS_FRESH: Freshness = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };

/** What is as fresh as both. */
export const freshness = (a: Freshness, b: Freshness): Freshness => ({
  fromMs: Math.max(a.fromMs, b.fromMs),
  untilMs: Math.min(a.untilMs, b.untilMs),
});

/** A clock that was set back makes what was signed before it hold only in the future: that is not fresh either. */
export const isFresh = ({ fromMs, untilMs }: Freshness, nowMs: number): boolean => nowMs >= fromMs && nowMs < untilMs;

/** When a signature that is made now holds, and how long it is handed out. */
export function validityAt(nowMs: number, owner: NameKey, type: number): { readonly validity: Validity; readonly fresh: Freshness } {
  const now = Math.floor(nowMs / 1000);
  const jitter = Math.floor((2 * hash(owner, type) - 1) * JITTER_SECONDS);
  const validity = { inception: now - SKEW_SECONDS, expiration: now + SIGNATURE_SECONDS + jitter };
  return {
    validity,
    fresh: { fromMs: validity.inception * 1000, untilMs: (validity.expiration - RENEWAL_SECONDS) * 1000 },
  };
}

/** A number from 0 up to 1 that is always the same for a set (FNV-1a). */
function hash(owner: NameKey, type: number): number {
  let sum = 0x811c9dc5 ^ type;
  for (let i = 0; i < owner.length; i++) sum = Math.imul(sum ^ owner.charCodeAt(i), 0x01000193);
  return (sum >>> 0) / 2 ** 32;
}
