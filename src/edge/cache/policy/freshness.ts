import type { CacheControl } from "#wire/http/cache-control.ts";
import { parseHttpDate } from "#wire/http/http-date.ts";
import { type ResponseField, singleValue, valuesOf } from "./response-fields.ts";

/** For how long a response may be used, as points in time: milliseconds of the epoch. */
export interface Freshness {
  /** When its age was 0. */
  readonly bornMs: number;
  readonly freshUntilMs: number;
  /** Until then it is used stale, while a newer one is fetched. */
  readonly refreshUntilMs: number;
  /** Until then it stands in for an origin that fails. */
  readonly spareUntilMs: number;
  /** Never used before the origin has confirmed it. */
  readonly mustValidate: boolean;
}

/**
 * How long responses without a word about it are kept, in seconds by status, as in the field. Only statuses for which
 * RFC 9110 §15.1 allows a guess: what a redirection is today says nothing of tomorrow.
 */
const DEFAULT_SECONDS: ReadonlyMap<number, number> = new Map([
  [200, 7200],
  [203, 7200],
  [300, 7200],
  [301, 7200],
  [308, 7200],
  [404, 180],
  [410, 180],
]);

export interface Timing {
  /** When the request left for the origin, and when its head came. */
  readonly requestMs: number;
  readonly responseMs: number;
}

/** RFC 9111 §4.2; null where neither the origin nor the status says how long it lasts. `targeted`: Expires does not count. */
export function freshnessOf(
  status: number,
  fields: readonly ResponseField[],
  control: CacheControl,
  targeted: boolean,
  { requestMs, responseMs }: Timing,
): Freshness | null {
  const dateMs = parseHttpDate(singleValue(fields, "date") ?? "", responseMs) ?? responseMs;
  const lifetimeSeconds =
    control.sharedMaxAge ?? control.maxAge ?? (targeted ? null : expiresSeconds(fields, dateMs, responseMs)) ?? DEFAULT_SECONDS.get(status);
  if (lifetimeSeconds === undefined) return null;
  // RFC 9111 §4.2.3: neither the clock of the origin nor the caches before us can make it younger than it is.
  const apparentMs = Math.max(0, responseMs - dateMs);
  const correctedMs = ageSeconds(fields) * 1000 + (responseMs - requestMs);
  const bornMs = responseMs - Math.max(apparentMs, correctedMs, 0);
  const freshUntilMs = bornMs + lifetimeSeconds * 1000;
  // RFC 9111 §4.2.4, §5.2.2.10: these directives forbid to use it stale, whatever others allow.
  const isStrict = control.noCache || control.mustRevalidate || control.proxyRevalidate || control.sharedMaxAge !== null;
  const graceMs = (seconds: number | null): number => (isStrict || seconds === null ? 0 : seconds * 1000);
  return {
    bornMs,
    freshUntilMs,
    refreshUntilMs: freshUntilMs + graceMs(control.staleWhileRevalidate),
    spareUntilMs: freshUntilMs + graceMs(control.staleIfError),
    mustValidate: control.noCache,
  };
}

/** As a rule has it: from when the response came, whatever the origin says. 0 has the origin asked each time. */
export function ruledFreshness(fields: readonly ResponseField[], seconds: number, { responseMs }: Timing): Freshness {
  const untilMs = responseMs + seconds * 1000;
  return {
    bornMs: responseMs - ageSeconds(fields) * 1000,
    freshUntilMs: untilMs,
    refreshUntilMs: untilMs,
    spareUntilMs: untilMs,
    mustValidate: seconds === 0,
  };
}

/** RFC 9111 §5.3: a date that is none, as the 0 that many send, has passed. */
function expiresSeconds(fields: readonly ResponseField[], dateMs: number, nowMs: number): number | null {
  const lines = valuesOf(fields, "expires");
  if (lines.length === 0) return null;
  const expiresMs = lines.length === 1 ? parseHttpDate(lines[0]!, nowMs) : null;
  return expiresMs === null ? 0 : Math.max(0, (expiresMs - dateMs) / 1000);
}

/** RFC 9111 §5.1: the first member of a list; what is no number is ignored. */
function ageSeconds(fields: readonly ResponseField[]): number {
  const [first] = (valuesOf(fields, "age")[0] ?? "").split(",", 1);
  return /^\s*\d{1,10}\s*$/.test(first!) ? Number(first) : 0;
}

/** Whole seconds since it was made, for the Age field. */
export const ageAt = (freshness: Freshness, nowMs: number): number => Math.max(0, Math.floor((nowMs - freshness.bornMs) / 1000));

/** What may be done with a response now: use it, use it and fetch a newer one, or ask first. */
export type Use = "fresh" | "refresh" | "validate";

export function useAt(freshness: Freshness, nowMs: number, mayBeStale = true): Use {
  if (freshness.mustValidate) return "validate";
  if (nowMs < freshness.freshUntilMs) return "fresh";
  return mayBeStale && nowMs < freshness.refreshUntilMs ? "refresh" : "validate";
}
