import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { CacheFill } from "#gateway/cache/fill.ts";
import type { AnswerSource, AttemptHandle, Exchange } from "./exchange.ts";
import type { HeaderObject } from "#wire/http/header-object.ts";
import { MaskedAnswer } from "#gateway/providers/masked-answer.ts";
import type { ProviderCall } from "#gateway/providers/provider-call.ts";
import type { AnswerHandler } from "#gateway/providers/answer-handler.ts";
import type { ProviderPool } from "#gateway/providers/provider-pool.ts";
import type { Step } from "#gateway/request/plan.ts";

/** Why an attempt produced no response for the client: the provider's status, or the connection error. */
export interface Failure {
  readonly status: number;
  readonly name: GatewayErrorName;
  /** The provider's Retry-After, in seconds. */
  readonly retryAfterSeconds: number | undefined;
  /** The provider's x-should-retry, which says whether the same request can succeed; undefined if it says nothing. */
  readonly shouldRetry?: boolean | undefined;
}

const ADVICE: Readonly<Record<string, boolean>> = { true: true, false: false };

export interface AttemptOptions {
  readonly exchange: Exchange;
  /** Collects the response for the cache. */
  readonly fill: CacheFill | undefined;
  /** Until the first byte, in milliseconds; undefined for the connection's own limit. */
  readonly timeoutMs: number | undefined;
  /** Whether another attempt can follow this failure. If not, the client gets it. */
  readonly canGoOn: (failure: Failure) => boolean;
  /** Called once: with undefined when the response to the client has begun. */
  readonly onSettled: (failure: Failure | undefined) => void;
}

/** Bytes of an unwanted response that the gateway reads to keep the connection; after more, it closes the connection. */
const DISCARDED_BYTES_MAX = 64 * 1024;
const STATUS_OF_NO_ANSWER = 0;

/**
 * One request to a provider. Before the response head arrives, the attempt can fail without the client noticing; after
 * that, the response goes to the client and the gateway does not retry. A class, because the gateway creates one for each
 * request.
 */
export class Attempt implements AnswerHandler, AnswerSource, AttemptHandle {
  readonly #options: AttemptOptions;
  #call: ProviderCall | undefined;
  #timer: NodeJS.Timeout | undefined;
  #state: "waiting" | "answering" | "discarding" | "over" = "waiting";
  #discardedBytes = 0;

  constructor(options: AttemptOptions) {
    this.#options = options;
    const { exchange, timeoutMs } = options;
    exchange.asker = this;
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#timedOut(), timeoutMs);
  }

  /** Sends the request; called once. */
  ask(pool: ProviderPool, step: Step): void {
    this.#call = pool.ask(step, step.mask === undefined ? this : new MaskedAnswer(step.mask, this));
  }

  onHead(status: number, headers: HeaderObject): void {
    if (this.#state !== "waiting") return;
    clearTimeout(this.#timer);
    const { exchange, canGoOn, fill } = this.#options;
    if (status >= 400) {
      const retryAfterSeconds = retryAfter(String(headers["retry-after"]));
      const failure = {
        status,
        name: "aig_upstream_failed",
        retryAfterSeconds,
        shouldRetry: ADVICE[String(headers["x-should-retry"])],
      } as const;
      if (canGoOn(failure)) {
        this.#state = "discarding";
        this.#finish(failure);
        if (!(Number(headers["content-length"]) <= DISCARDED_BYTES_MAX)) this.leave();
        return;
      }
    }
    this.#state = "answering";
    fill?.begin(status, headers);
    if (!exchange.begin(status, headers)) this.#call?.abort();
    this.#finish(undefined);
  }

  onData(chunk: Buffer): void {
    if (this.#state === "discarding") {
      this.#discardedBytes += chunk.length;
      if (this.#discardedBytes > DISCARDED_BYTES_MAX) this.leave();
      return;
    }
    if (this.#state !== "answering") return;
    this.#options.fill?.chunk(chunk);
    if (!this.#options.exchange.data(chunk, this)) this.#call?.pause();
  }

  resume(): void {
    this.#call?.resume();
  }

  onReadEnd(): void {
    if (this.#state === "answering") this.#options.exchange.flush();
  }

  onEnd(): void {
    if (this.#state === "answering") {
      this.#options.fill?.end();
      this.#options.exchange.end();
    }
    this.#state = "over";
  }

  onFailed(name: GatewayErrorName): void {
    this.#failed(name);
  }

  #timedOut(): void {
    this.#failed("aig_upstream_timeout");
    this.#call?.abort();
  }

  #failed(name: GatewayErrorName): void {
    clearTimeout(this.#timer);
    const { exchange, canGoOn } = this.#options;
    const state = this.#state;
    this.#state = "over";
    if (state === "answering") {
      this.#options.fill?.drop();
      exchange.fail({ name: name === "aig_upstream_failed" ? "aig_answer_cut" : name });
    }
    if (state !== "waiting") return;
    const failure = { status: STATUS_OF_NO_ANSWER, name, retryAfterSeconds: undefined };
    if (canGoOn(failure)) return this.#finish(failure);
    this.#options.fill?.drop();
    exchange.fail({ name });
    this.#finish(undefined);
  }

  /** The rest of the response is not needed. */
  leave(): void {
    clearTimeout(this.#timer);
    const wasWaiting = this.#state === "waiting";
    if (this.#state !== "discarding") this.#options.fill?.drop();
    this.#state = "over";
    this.#call?.abort();
    if (wasWaiting) this.#finish(undefined);
  }

  #finish(failure: Failure | undefined): void {
    if (failure !== undefined) this.#options.exchange.asker = undefined;
    this.#options.onSettled(failure);
  }
}

/** Retry-After in seconds (RFC 9110 §10.2.3). Ignores dates, because clocks differ. */
const retryAfter = (value: string): number | undefined => (/^\d{1,6}$/.test(value) ? Number(value) : undefined);
