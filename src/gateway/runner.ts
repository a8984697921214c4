import type { Dispatcher } from "undici";
import { Attempt, type Failure } from "./attempt.ts";
import { type Refusal, RefusalError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import type { Plan, Step } from "./plan.ts";
import type { Pools } from "./pools.ts";
import { type RequestOptions, RETRY_DELAY_MS_MAX } from "./request-options.ts";

/** Looks at each step before anything of it leaves. In a list of them the first refusal counts. */
export interface StepGuard {
  /** A refusal ends the whole request, whatever the plan has left. */
  check(step: Step): Refusal | undefined | Promise<Refusal | undefined>;
}

export interface Runner {
  /** Resolves when the answer has begun, or the exchange is over. Never rejects. `first` is the plan's first step. */
  run(plan: Plan, first: Step, exchange: Exchange): Promise<void>;
}

/** Steps of one request, whatever a plan offers. */
const STEPS_MAX = 32;

/**
 * What is tried again: a provider that was not there, was busy or failed (RFC 9110 §15.6). Any error is a reason for the
 * next step, since another provider may know the model or have a valid key.
 */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([0, 408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);

export function createRunner({ pools, guards }: { readonly pools: Pools; readonly guards: readonly StepGuard[] }): Runner {
  const send = async (step: Step, exchange: Exchange, canGoOn: (failure: Failure) => boolean): Promise<Failure | undefined> => {
    const opened = pools.get(step.origin);
    const pool = opened instanceof Promise ? await opened : opened;
    if (exchange.isSettled) return undefined;
    return new Promise((resolve) => {
      const attempt = new Attempt({ exchange, timeoutMs: step.options.timeoutMs, canGoOn, onSettled: resolve });
      pool.dispatch(dispatchOptions(step), attempt);
    });
  };

  return {
    run: async (plan, first, exchange) => {
      let steps = 1;
      let step: Step | undefined = first;
      try {
        while (step !== undefined) {
          const current: Step = step;
          let following: Step | undefined;
          exchange.trying(current);
          for (const guard of guards) {
            const checked = guard.check(current);
            const refusal = checked instanceof Promise ? await checked : checked;
            if (refusal !== undefined) return exchange.fail(refusal);
          }
          for (let attempt = 1, again = true; again; attempt++) {
            const isRetried = (failure: Failure): boolean =>
              attempt < attemptsOf(current) && RETRIED_STATUSES.has(failure.status) && failure.name !== "aig_body_too_large";
            const failure = await send(current, exchange, (candidate) => {
              if (exchange.isSettled) return false;
              if (isRetried(candidate)) return true;
              following = steps++ < STEPS_MAX && candidate.name !== "aig_body_too_large" ? plan.next() : undefined;
              return following !== undefined;
            });
            if (failure === undefined) return;
            again = following === undefined;
            if (again) await pause(delayMs(current.options, attempt, failure), exchange);
            if (exchange.isSettled) return;
          }
          step = following;
        }
      } catch (error) {
        // The client library reports failures to the attempt; what is thrown here nobody foresaw.
        exchange.fail(error instanceof RefusalError ? error.refusal : { name: "aig_internal" });
      }
    },
  };
}

/** A body that is streamed from the client is there once. */
const attemptsOf = ({ body, options }: Step): number => (body.kind === "stream" ? 1 : options.attemptsMax);

function delayMs({ retryDelayMs, backoff }: RequestOptions, attempt: number, { retryAfterSeconds = 0 }: Failure): number {
  const factor = { constant: 1, linear: attempt, exponential: 2 ** (attempt - 1) }[backoff];
  const asked = retryAfterSeconds * 1000;
  // A provider that asks for more than anybody may configure is asked anyway: the client waits.
  return Math.max(Math.min(retryDelayMs * factor, 2 ** 4 * RETRY_DELAY_MS_MAX), Math.min(asked, RETRY_DELAY_MS_MAX));
}

function pause(ms: number, exchange: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      exchange.onGone = undefined;
      resolve();
    };
    const timer = setTimeout(done, ms);
    exchange.onGone = done;
  });
}

function dispatchOptions({ method, target, headers, body }: Step): Dispatcher.DispatchOptions {
  if (body.kind === "whole") {
    const options = { method, path: target, headers, body: body.bytes.length > 0 ? body.bytes : null };
    return options as Dispatcher.DispatchOptions;
  }
  const all = body.length === undefined ? headers : [...headers, "content-length", body.length];
  // The types know node's streams only; the client library takes any async iterable.
  const stream = body.stream as unknown as NonNullable<Dispatcher.DispatchOptions["body"]>;
  return { method, path: target, headers: all, body: stream } as Dispatcher.DispatchOptions;
}
