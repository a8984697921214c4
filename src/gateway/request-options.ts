import type { IncomingHttpHeaders } from "node:http";
import type { GatewayEntry } from "#snapshot/entries.ts";

export type Backoff = "constant" | "linear" | "exponential";

/** What a request may ask for itself. Precedence: a step of its own, then the request's fields, then the gateway's settings. */
export interface RequestOptions {
  /** Until the provider's first byte; undefined: the gateway's own limit. */
  readonly timeoutMs: number | undefined;
  readonly attemptsMax: number;
  /** Before the second attempt; the backoff says how it grows. */
  readonly retryDelayMs: number;
  readonly backoff: Backoff;
}

export const ATTEMPTS_MAX = 5;
export const RETRY_DELAY_MS_MAX = 5_000;

/** One for every gateway that sets nothing and every request that asks for nothing. */
const PLAIN: RequestOptions = { timeoutMs: undefined, attemptsMax: 1, retryDelayMs: 500, backoff: "constant" };

export interface RequestOptionsReader {
  read(headers: IncomingHttpHeaders, gateway: GatewayEntry): RequestOptions;
}

/** The fields `{prefix}-aig-…`; the names that published clients send (`cf-aig-…`) count as well. */
export function createRequestOptions(vendorPrefix: string): RequestOptionsReader {
  const field = (name: string): readonly [string, string] => [`${vendorPrefix}-aig-${name}`, `cf-aig-${name}`];
  const names = {
    timeout: field("request-timeout"),
    attempts: field("max-attempts"),
    delay: field("retry-delay"),
    backoff: field("backoff"),
  };
  const value = (headers: IncomingHttpHeaders, [own, published]: readonly [string, string]): string | undefined => {
    const found = headers[own] ?? headers[published];
    return typeof found === "string" ? found : undefined;
  };
  return {
    read: (headers, { retry }) => {
      const base = retry === undefined ? PLAIN : withRetry(retry);
      const timeout = value(headers, names.timeout);
      const attempts = value(headers, names.attempts);
      const delay = value(headers, names.delay);
      const backoff = value(headers, names.backoff);
      if (timeout === undefined && attempts === undefined && delay === undefined && backoff === undefined) return base;
      return {
        ...base,
        timeoutMs: wholeNumber(timeout, 1, 3_600_000) ?? base.timeoutMs,
        attemptsMax: wholeNumber(attempts, 1, ATTEMPTS_MAX) ?? base.attemptsMax,
        retryDelayMs: wholeNumber(delay, 0, RETRY_DELAY_MS_MAX) ?? base.retryDelayMs,
        backoff: isBackoff(backoff) ? backoff : base.backoff,
      };
    },
  };
}

const withRetry = ({ max_attempts, delay_ms, backoff }: NonNullable<GatewayEntry["retry"]>): RequestOptions => ({
  ...PLAIN,
  attemptsMax: max_attempts ?? PLAIN.attemptsMax,
  retryDelayMs: delay_ms ?? PLAIN.retryDelayMs,
  backoff: backoff ?? PLAIN.backoff,
});

export const isBackoff = (value: unknown): value is Backoff => value === "constant" || value === "linear" || value === "exponential";

/** The number within its bounds; undefined for what is none. */
export function wholeNumber(text: unknown, min: number, max: number): number | undefined {
  const number = typeof text === "number" ? text : typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? Math.min(Math.max(number, min), max) : undefined;
}
