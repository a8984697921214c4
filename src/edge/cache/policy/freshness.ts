import type { CacheControl } from "#wire/http/cache-control.ts";
import { parseHttpDate } from "#wire/http/http-date.ts";
import { type ResponseField, singleValue, valuesOf } from "./response-fields.ts";

/** When a response may be used; times in Unix milliseconds. */
export interface Freshness {
  /** When its age was 0. */
  readonly bornMs: number;
  readonly freshUntilMs: number;
  /** Until then it may be served stale while a fill fetches a newer one (stale-while-revalidate). */
  readonly refreshUntilMs: number;
  /** Until then it may be served stale if the origin fails (stale-if-error). */
  readonly spareUntilMs: number;
  /** Must be revalidated before each use. */
  readonly mustValidate: boolean;
}

/**
 * Default TTLs in seconds by status, for responses without an explicit TTL, as at other CDNs. Only statuses for which
 * RFC 9110 §15.1 allows a heuristic.
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
  /** When the request was sent and when the response head arrived, in Unix milliseconds. */
  readonly requestMs: number;
  readonly responseMs: number;
}

/** Whether the origin says itself that the response may be stored for a time, so that its status decides nothing. */
export const hasOwnTime = (
  fields: readonly ResponseField[],
  { isPublic, sharedMaxAge, maxAge }: CacheControl,
  targeted: boolean,
): boolean => isPublic || sharedMaxAge !== null || maxAge !== null || (!targeted && valuesOf(fields, "expires").length > 0);

/** Freshness by RFC 9111 §4.2; null if neither the origin nor the status gives a TTL. `targeted`: ignore Expires. */
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
  // RFC 9111 §4.2.3: a wrong clock of the origin or an earlier cache must not make the response look younger.
  const apparentMs = Math.max(0, responseMs - dateMs);
  const correctedMs = ageSeconds(fields) * 1000 + (responseMs - requestMs);
  const bornMs = responseMs - Math.max(apparentMs, correctedMs, 0);
  const freshUntilMs = bornMs + lifetimeSeconds * 1000;
  // RFC 9111 §4.2.4, §5.2.2.10: these directives forbid serving stale, whatever others allow.
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

/** Freshness that a rule sets, counted from the response's arrival. 0 requires revalidation for each use. */
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

/** RFC 9111 §5.3: an invalid date, such as the common 0, has expired. */
function expiresSeconds(fields: readonly ResponseField[], dateMs: number, nowMs: number): number | null {
  const lines = valuesOf(fields, "expires");
  if (lines.length === 0) return null;
  const expiresMs = lines.length === 1 ? parseHttpDate(lines[0]!, nowMs) : null;
  return expiresMs === null ? 0 : Math.max(0, (expiresMs - dateMs) / 1000);
}

/** RFC 9111 §5.1: uses the first member of a list, and ignores a value that is not a number. */
function ageSeconds(fields: readonly ResponseField[]): number {
  const [first] = (valuesOf(fields, "age")[0] ?? "").split(",", 1);
  return /^\s*\d{1,10}\s*$/.test(first!) ? Number(first) : 0;
}

/** Age in whole seconds, for the Age field. */
export const ageAt = (freshness: Freshness, nowMs: number): number => Math.max(0, Math.floor((nowMs - freshness.bornMs) / 1000));

/** The use of a stored response: serve it, serve it and fetch a newer one, or revalidate it first. */
export type Use = "fresh" | "refresh" | "validate";

export function useAt(freshness: Freshness, nowMs: number, mayBeStale = true): Use {
  if (freshness.mustValidate) return "validate";
  if (nowMs < freshness.freshUntilMs) return "fresh";
  return mayBeStale && nowMs < freshness.refreshUntilMs ? "refresh" : "validate";
}
