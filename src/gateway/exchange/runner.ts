import type { GatewayEntry } from "#snapshot/entries.ts";
import { Attempt, type Failure } from "./attempt.ts";
import type { AnswerCache } from "#gateway/cache/answer-cache.ts";
import type { CacheScope } from "#gateway/cache/cache-key.ts";
import type { CacheFill } from "#gateway/cache/fill.ts";
import type { CachedResponse } from "#gateway/cache/cached-response.ts";
import { type Refusal, RefusalError } from "#gateway/http/errors.ts";
import type { KeyRequest, Keyed, StoredKeys } from "#gateway/credentials/stored-keys.ts";
import type { AnswerSource, Exchange } from "./exchange.ts";
import type { Plan, Step } from "#gateway/request/plan.ts";
import type { Pools } from "#gateway/providers/pools.ts";
import type { ProviderPool } from "#gateway/providers/provider-pool.ts";
import { isClaim, type SpendLimits } from "#gateway/limits/spend-limits.ts";
import { type RequestOptions, RETRY_DELAY_MS_MAX } from "#gateway/request/request-options.ts";
import { mediaType } from "#gateway/usage/usage.ts";

/** The account and gateway of a request. */
export interface RunContext extends KeyRequest {
  /** Metadata as in the request's row. */
  readonly metadata: string;
}

export interface Runner {
  /** Resolves when the response has begun or the exchange is over. Never rejects. `first` is the plan's first step. */
  run(plan: Plan, first: Step, exchange: Exchange, context: RunContext): Promise<void>;
}

const GUARDED = { isGuarded: true };
/** For a blocked address: a retry would not change the result. */
const STATUS_NOT_ALLOWED = 403;
/** Limit of steps per request, whatever the plan. */
const STEPS_MAX = 32;

/**
 * Statuses that are retried unless the provider says otherwise: it was unreachable, busy or failed (RFC 9110 §15.6). Any error leads to the next
 * step, because another provider may know the model or have a valid key.
 */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([0, 408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);

export interface RunnerDeps {
  readonly pools: Pools;
  readonly keys: StoredKeys;
  readonly cache: AnswerCache;
  readonly spend: SpendLimits;
}

export function createRunner({ pools, keys, cache, spend }: RunnerDeps): Runner {
  const send = (
    step: Step,
    exchange: Exchange,
    fill: CacheFill | undefined,
    canGoOn: (failure: Failure) => boolean,
  ): Promise<Failure | undefined> => {
    const pool = poolOf(pools, step);
    if ("name" in pool) {
      const failure = { status: STATUS_NOT_ALLOWED, name: pool.name, retryAfterSeconds: undefined };
      if (canGoOn(failure)) return Promise.resolve(failure);
      exchange.fail(pool);
      return Promise.resolve(undefined);
    }
    return new Promise((resolve) => {
      const attempt = new Attempt({ exchange, fill, timeoutMs: step.options.timeoutMs, canGoOn, onSettled: resolve });
      attempt.ask(pool, step);
    });
  };

  /** Sends requests until there is a response or no attempts are left. Returns false if the next step may be tried. */
  const ask = async (step: Step, exchange: Exchange, fill: CacheFill | undefined, hasNext: () => boolean): Promise<boolean> => {
    for (let attempt = 1; ; attempt++) {
      let isOver = false;
      const failure = await send(step, exchange, fill, (candidate) => {
        if (exchange.isSettled) return false;
        const isLost = candidate.name === "aig_body_too_large";
        const isRetried = candidate.shouldRetry ?? RETRIED_STATUSES.has(candidate.status);
        if (!isLost && attempt < attemptsOf(step) && isRetried) return true;
        isOver = true;
        return !isLost && hasNext();
      });
      if (failure === undefined) return true;
      if (isOver) return false;
      await pause(delayMs(step.options, attempt, failure), exchange);
      if (exchange.isSettled) return true;
    }
  };

  return {
    run: async (plan, first, exchange, context) => {
      const scope = cacheScope(context.gateway);
      let step: Step | undefined = first;
      let following: Step | undefined;
      try {
        for (let steps = 1; step !== undefined && !exchange.isSettled; steps++) {
          const next = (): boolean => {
            following = steps < STEPS_MAX ? plan.next() : undefined;
            return following !== undefined;
          };
          following = undefined;
          exchange.trying(step);
          const keying = keyOf(keys, step, context);
          const keyed = keying instanceof Promise ? await keying : keying;
          if ("name" in keyed) {
            // Other steps may not need the key.
            if (!next()) return exchange.fail(keyed);
            step = following;
            continue;
          }
          if (keyed.step !== step) exchange.trying((step = keyed.step));
          const lookup = cache.find(step, scope);
          const found = lookup instanceof Promise ? await lookup : lookup;
          if (found !== undefined && "stored" in found) return replay(found.stored, exchange);
          const waitSeconds = keyed.take?.() ?? 0;
          const { gateway, metadata } = context;
          const ready = waitSeconds > 0 ? undefined : spend.ready(gateway, step, metadata);
          if (ready !== undefined) await ready;
          const claimed = waitSeconds > 0 ? tooMany(waitSeconds) : spend.reserve(gateway, step, metadata, true);
          if (claimed !== undefined && !isClaim(claimed)) {
            found?.fill.drop();
            // Another provider or model may be within its limits.
            if (!next()) return exchange.fail(claimed);
          } else {
            if (claimed !== undefined) exchange.claim = claimed;
            const isDone = await ask(step, exchange, found?.fill, next);
            if (isDone && exchange.isSettled) found?.fill.drop();
            if (isDone) return;
            exchange.claim = undefined;
            claimed?.release();
            found?.fill.drop();
          }
          step = following;
        }
      } catch (error) {
        // The attempt reports connection failures; this catches only unexpected errors.
        exchange.fail(refusalOf(error));
      }
    },
  };
}

/** The step's connection pool, or why the gateway may not connect. */
function poolOf(pools: Pools, { origin, isGuarded }: Step): ProviderPool | Refusal {
  try {
    return isGuarded ? pools.get(origin, GUARDED) : pools.get(origin);
  } catch (error) {
    return refusalOf(error);
  }
}

/** The step with its key, or the refusal. */
function keyOf(keys: StoredKeys, step: Step, asked: KeyRequest): Keyed | Refusal | Promise<Keyed | Refusal> {
  try {
    const keyed = keys.apply(step, asked);
    return keyed instanceof Promise ? keyed.catch(refusalOf) : keyed;
  } catch (error) {
    return refusalOf(error);
  }
}

const refusalOf = (error: unknown): Refusal => (error instanceof RefusalError ? error.refusal : { name: "aig_internal" });

const tooMany = (waitSeconds: number): Refusal => ({ name: "aig_rate_limited", headers: ["retry-after", String(waitSeconds)] });

const cacheScope = ({ account_id, gateway_id, cache_epoch = "" }: GatewayEntry): CacheScope => ({
  accountId: account_id,
  gatewayId: gateway_id,
  epoch: cache_epoch,
});

/** Sends a cached response like one from a provider, no faster than the client reads. */
function replay({ status, contentType, chunks, bytes }: CachedResponse, exchange: Exchange): void {
  const isStream = mediaType(contentType) === "text/event-stream";
  const headers = { "content-type": contentType, ...(isStream ? {} : { "content-length": String(bytes) }) };
  if (!exchange.begin(status, headers, true)) return;
  let at = 0;
  const source: AnswerSource = {
    resume: () => {
      for (let chunk = chunks[at++]; chunk !== undefined; chunk = chunks[at++]) if (!exchange.data(chunk, source)) return exchange.flush();
      exchange.end();
    },
  };
  source.resume();
}

/** A streamed request body can be sent only once. */
const attemptsOf = ({ body, options }: Step): number => (body.kind === "stream" ? 1 : options.attemptsMax);

function delayMs({ retryDelayMs, backoff }: RequestOptions, attempt: number, { retryAfterSeconds = 0 }: Failure): number {
  const factor = { constant: 1, linear: attempt, exponential: 2 ** (attempt - 1) }[backoff];
  const asked = retryAfterSeconds * 1000;
  // Retry-After is capped at the largest configurable delay, because the client waits meanwhile.
  return Math.max(Math.min(retryDelayMs * factor, 2 ** 4 * RETRY_DELAY_MS_MAX), Math.min(asked, RETRY_DELAY_MS_MAX));
}

function pause(ms: number, exchange: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      exchange.asker = undefined;
      resolve();
    };
    const timer = setTimeout(done, ms);
    exchange.asker = { leave: done };
  });
}
