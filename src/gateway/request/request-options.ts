import type { IncomingHttpHeaders } from "node:http";
import type { GatewayEntry } from "#snapshot/entries.ts";
import { RefusalError } from "#gateway/http/errors.ts";
import { type CustomCost, parseCustomCost } from "#gateway/usage/custom-cost.ts";
import { isTraceId } from "#gateway/http/identifiers.ts";
import { isEventId } from "#gateway/http/identifiers.ts";

export type Backoff = "constant" | "linear" | "exponential";

/** Options of one request. Precedence: its step, then the request's header fields, then the gateway's settings. */
export interface RequestOptions {
  /** Until the provider's first byte; undefined: the gateway's limit. */
  readonly timeoutMs: number | undefined;
  readonly attemptsMax: number;
  /** Before the second attempt; `backoff` says how it grows. */
  readonly retryDelayMs: number;
  readonly backoff: Backoff;
  /** 0: answers are neither looked up nor stored. */
  readonly cacheTtlSeconds: number;
  /** Whether the request itself asks for the cache, for any path; a gateway's setting covers only repeatable requests. */
  readonly isCacheAsked: boolean;
  /** Replaces the computed cache key. */
  readonly cacheKey: string | undefined;
  readonly customCost: CustomCost | undefined;
  /**
   * The alias of the stored key to use, even if the request carries a key; undefined: the default key, if the request
   * carries none.
   */
  readonly keyAlias: string | undefined;
}

export const DEFAULT_KEY_ALIAS = "default";
const ATTEMPTS_MAX = 5;
export const RETRY_DELAY_MS_MAX = 5_000;
const TIMEOUT_MS_MAX = 3_600_000;
/** Thirty days, as in the reference. */
const CACHE_TTL_SECONDS_MAX = 2_592_000;
/** TTL of a request that names a cache key, if nothing else sets one (reference, part A). */
const KEYED_TTL_SECONDS = 300;
const CACHE_KEY_CHARACTERS_MAX = 1024;

/** Options without any settings of the gateway or the request. */
const PLAIN: RequestOptions = {
  timeoutMs: undefined,
  attemptsMax: 1,
  retryDelayMs: 500,
  backoff: "constant",
  cacheTtlSeconds: 0,
  isCacheAsked: false,
  cacheKey: undefined,
  customCost: undefined,
  keyAlias: undefined,
};

export interface RequestOptionsReader {
  /** Options of the gateway's requests without fields. */
  ofGateway(gateway: GatewayEntry): RequestOptions;
  /** Applies the fields to `base`. Numbers out of bounds become the nearest bound; throws a RefusalError for an invalid value. */
  read(headers: IncomingHttpHeaders, base: RequestOptions): RequestOptions;
}

type Mutable = { -readonly [K in keyof RequestOptions]: RequestOptions[K] };

/** Reads the value of one field. */
type Reading = (into: Mutable, text: string) => void;

/** In this order, because later fields depend on earlier ones. */
const FIELDS: Readonly<Record<string, Reading>> = {
  "request-timeout": (into, text) => void (into.timeoutMs = wholeNumber(text, 1, TIMEOUT_MS_MAX)),
  "max-attempts": (into, text) => void (into.attemptsMax = wholeNumber(text, 1, ATTEMPTS_MAX)),
  "retry-delay": (into, text) => void (into.retryDelayMs = wholeNumber(text, 0, RETRY_DELAY_MS_MAX)),
  backoff: (into, text) => void (into.backoff = backoffOf(text)),
  "cache-ttl": (into, text) => void (into.cacheTtlSeconds = wholeNumber(text, 0, CACHE_TTL_SECONDS_MAX)),
  "cache-key": (into, text) => void (into.cacheKey = text.slice(0, CACHE_KEY_CHARACTERS_MAX)),
  "skip-cache": (into, text) => {
    if (isTrue(text)) into.cacheTtlSeconds = 0;
  },
  // Read by the log (log-options.ts) after the request has begun; an invalid value is refused here, so that a request is
  // not logged against the client's will.
  "collect-log": (_into, text) => void isTrue(text),
  "collect-log-payload": (_into, text) => void isTrue(text),
  "custom-cost": (into, text) => void (into.customCost = parseCustomCost(text)),
  "byok-alias": (into, text) => void (into.keyAlias = text),
  // Read for the answer's fields and its span; a name by which the request could not be found is refused here.
  "event-id": (_into, text) => mustBe(isEventId(text), "must be 1 to 128 visible ASCII characters"),
  "otel-trace-id": (_into, text) => mustBe(isTraceId(text, 32), "must be 32 hexadecimal digits, not all of them 0"),
  "otel-parent-span-id": (_into, text) => mustBe(isTraceId(text, 16), "must be 16 hexadecimal digits, not all of them 0"),
  zdr: (_into, text) => mustBe(!isTrue(text), "cannot be true: the gateway does not know which providers retain no data"),
};

/** Names that clients used before the prefix was agreed on. */
const OLD_NAMES: Readonly<Record<string, string>> = { "cache-ttl": "cf-cache-ttl", "skip-cache": "cf-skip-cache" };

/** The fields `{prefix}-aig-…`; the names that published clients send (`cf-aig-…`) count as well. */
export function createRequestOptions(vendorPrefix: string): RequestOptionsReader {
  const fields = Object.entries(FIELDS).map(([name, read]) => ({
    name,
    own: `${vendorPrefix}-aig-${name}`,
    published: `cf-aig-${name}`,
    old: OLD_NAMES[name] ?? `cf-aig-${name}`,
    read,
  }));
  return {
    ofGateway: ({ retry, cache }) => (retry === undefined && cache === undefined ? PLAIN : withSettings(retry, cache)),
    read: (headers, base) => {
      let options: Mutable | undefined;
      let isKeyed = false;
      let hasTtl = false;
      for (const { name, own, published, old, read } of fields) {
        const text = headers[own] ?? headers[published] ?? headers[old];
        if (typeof text !== "string" || text === "") continue;
        options ??= { ...base };
        options.isCacheAsked ||= name === "cache-key" || name === "cache-ttl";
        isKeyed ||= name === "cache-key";
        hasTtl ||= name === "cache-ttl" || name === "skip-cache";
        try {
          read(options, text);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          throw new RefusalError({ name: "aig_bad_request", message: `The field ${own} ${error.message}` });
        }
      }
      if (options !== undefined && isKeyed && !hasTtl && base.cacheTtlSeconds === 0) options.cacheTtlSeconds = KEYED_TTL_SECONDS;
      return options ?? base;
    },
  };
}

const withSettings = (retry: GatewayEntry["retry"] = {}, cache: GatewayEntry["cache"]): RequestOptions => ({
  ...PLAIN,
  attemptsMax: retry.max_attempts ?? PLAIN.attemptsMax,
  retryDelayMs: retry.delay_ms ?? PLAIN.retryDelayMs,
  backoff: retry.backoff ?? PLAIN.backoff,
  cacheTtlSeconds: Math.min(cache?.ttl_seconds ?? 0, CACHE_TTL_SECONDS_MAX),
});

/** The options in `config` of a universal step; throws RangeError for an invalid value. */
export function withStepConfig(base: RequestOptions, config: Readonly<Record<string, unknown>>): RequestOptions {
  const { requestTimeout, maxAttempts, retryDelay, backoff, cacheTtl, skipCache } = config;
  const options: Mutable = { ...base };
  if (requestTimeout !== undefined) options.timeoutMs = wholeNumber(requestTimeout, 1, TIMEOUT_MS_MAX);
  if (maxAttempts !== undefined) options.attemptsMax = wholeNumber(maxAttempts, 1, ATTEMPTS_MAX);
  if (retryDelay !== undefined) options.retryDelayMs = wholeNumber(retryDelay, 0, RETRY_DELAY_MS_MAX);
  if (backoff !== undefined) options.backoff = backoffOf(backoff);
  if (cacheTtl !== undefined) {
    options.cacheTtlSeconds = wholeNumber(cacheTtl, 0, CACHE_TTL_SECONDS_MAX);
    options.isCacheAsked = true;
  }
  if (skipCache === true) options.cacheTtlSeconds = 0;
  return options;
}

function mustBe(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new RangeError(otherwise);
}

function isTrue(text: string): boolean {
  const word = text.trim().toLowerCase();
  if (word !== "true" && word !== "false") throw new RangeError("must be true or false");
  return word === "true";
}

function backoffOf(value: unknown): Backoff {
  if (value === "constant" || value === "linear" || value === "exponential") return value;
  throw new RangeError("must be constant, linear or exponential");
}

/** The number, limited to the bounds. */
function wholeNumber(value: unknown, min: number, max: number): number {
  const number = typeof value === "number" ? value : typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number) || number < 0) throw new RangeError("must be a whole number");
  return Math.min(Math.max(number, min), max);
}
