import type { IncomingHttpHeaders } from "node:http";
import type { StoredWatcher } from "#events/logs/entry.ts";
import type { AnswerSink, AnswerWatcher } from "#gateway/listen/response-writer.ts";
import type { GatewayLimits } from "#gateway/config.ts";
import type { Cost } from "#gateway/costs/costs.ts";
import { type Refusal, RefusalError, renderError } from "#gateway/http/errors.ts";
import { sendError } from "#gateway/listen/send-error.ts";
import { ESTIMATE_BYTES_MAX, type TokenEstimates, type StreamEnd } from "#gateway/costs/token-estimates.ts";
import type { FlatHeaders, HeaderRules } from "#gateway/http/headers.ts";
import type { LogRecord } from "#gateway/logs/log.ts";
import { ChunkList } from "#gateway/http/chunks.ts";
import type { AnswerHead, MakeTransform, Step } from "#gateway/request/plan.ts";
import { Passage, type PassageSink, transformsFor } from "./answer-transforms.ts";
import { hasLastEvent } from "#gateway/streams/stream-end.ts";
import type { SpendClaim } from "#gateway/limits/spend-limits.ts";
import { NO_USAGE, type Usage } from "#gateway/usage/usage-formats.ts";
import { UsageReader } from "#gateway/usage/usage.ts";

/** Status of the row when the client disconnected before the response; no client sees it. */
const CLIENT_GONE_STATUS = 499;
/** A cached response uses no new tokens. */
const CACHED_USAGE: Usage = { tokensIn: 0, tokensOut: 0 };
const NO_BYTES: Buffer = Buffer.alloc(0);
const NO_COST: Cost = { cost: null, isCustom: false };

export interface ExchangeOptions {
  readonly answer: AnswerSink;
  readonly rules: HeaderRules;
  /** Fields that the gateway adds to the response of a step. */
  readonly fields: (step: Step, isCached: boolean) => FlatHeaders;
  /** Transforms that each response passes after its step's own transforms. */
  readonly guards: readonly MakeTransform[];
  /** Fields that are known only when the first byte of the response is sent. */
  readonly lastFields: () => FlatHeaders;
  readonly costOf: (step: Step, usage: Usage, isCached: boolean) => Cost;
  readonly estimates: TokenEstimates;
  readonly limits: GatewayLimits;
  readonly record: LogRecord;
  /** Bytes of the request body so far. */
  readonly requestBytes: () => number;
  /** HEAD responses have a length but no body. */
  readonly isHead: boolean;
  /** The whole request has arrived. */
  readonly isRequestComplete: () => boolean;
  /** Called once, whatever the outcome. */
  readonly onSettled: () => void;
}

/** A request to a provider, or one that waits to be sent. */
export interface AttemptHandle {
  leave(): void;
}

/** Completes the client's response after the row is written. */
type Ending =
  /** `last`: the remaining output of the transforms. */
  | { readonly kind: "answer"; readonly last: Buffer | undefined }
  | { readonly kind: "cut"; readonly last: Buffer | undefined }
  | { readonly kind: "refusal"; readonly refusal: Refusal }
  | typeof NOTHING;

const NOTHING = { kind: "nothing" } as const;

/** Source of a response body, which can be paused. */
export interface AnswerSource {
  /** The client has caught up. */
  resume(): void;
}

/**
 * One request from the client's side: forwards the response of one step to the client and writes the log row, once. A
 * class, because the gateway creates one for each request and its shape must stay the same.
 */
export class Exchange implements AnswerWatcher, StoredWatcher, PassageSink {
  readonly #options: ExchangeOptions;
  /** The step that is tried, or whose response is forwarded. */
  #step: Step;
  #usage: UsageReader | undefined;
  #status = 0;
  #contentType = "";
  #responseBytes = 0;
  #isCached = false;
  #passage: Passage | undefined;
  /** The response head, held back to be sent with the first bytes of the body, or in one write with all of it. */
  #heldHeaders: FlatHeaders | undefined;
  #isHeldToEnd = false;
  readonly #heldChunks: Buffer[] = [];
  /** For a streamed response: its length by Content-Length, and the chunk that ends it. */
  #length = Number.NaN;
  #lastChunk: Buffer | undefined;
  /** The last bytes sent to the client, and those before. */
  #sentLast = NO_BYTES;
  #sentBefore = NO_BYTES;
  /** The response body, from which tokens are estimated if the provider reports none. */
  readonly #answer = new ChunkList();
  #isSettled = false;
  #ending: Ending = NOTHING;
  #asker: AttemptHandle | undefined;
  #source: AnswerSource | undefined;
  #claim: Pick<SpendClaim, "charge"> | undefined;

  /** `step`: the first step to try. */
  constructor(options: ExchangeOptions, step: Step) {
    this.#options = options;
    this.#step = step;
    options.answer.watcher = this;
    if (options.answer.isGone) this.clientGone();
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  get isBehind(): boolean {
    return this.#source !== undefined;
  }

  /** Notified when the client no longer needs the response; one at a time. */
  set asker(asker: AttemptHandle | undefined) {
    this.#asker = asker;
  }

  /** Charged with the cost of the step; one at a time. */
  set claim(claim: Pick<SpendClaim, "charge"> | undefined) {
    this.#claim = claim;
  }

  /** The step that is now tried; failures are logged with it. */
  trying(step: Step): void {
    this.#step = step;
  }

  /** Starts the response; from now on, the gateway does not retry. Returns false if the exchange ended immediately. */
  begin(status: number, headers: IncomingHttpHeaders, isCached = false): boolean {
    if (this.#isSettled) return false;
    const { rules, limits, isHead, fields, guards } = this.#options;
    const step = this.#step;
    this.#isCached = isCached;
    if (!isCached) this.#usage = new UsageReader(step.usage, String(headers["content-type"] ?? ""), headers["content-encoding"]);
    let head: AnswerHead = { status, headers };
    if (step.transforms.length + guards.length > 0 && !isHead && !this.#guarded(() => void (head = this.#transform(head)))) return false;
    this.#status = head.status;
    this.#contentType = String(head.headers["content-type"] ?? "");
    const forClient = rules.toClient(head.headers);
    forClient.push(...fields(step, isCached));
    this.#options.record.answered(head.status, head.headers);
    const length = Number(head.headers["content-length"] ?? Number.NaN);
    if (length <= limits.responseBufferBytes || isHead || this.#passage !== undefined) {
      this.#heldHeaders = forClient;
      this.#isHeldToEnd = this.#passage === undefined;
      return true;
    }
    this.#length = length;
    this.#writeHead(forClient);
    return true;
  }

  /** Sends the buffered bytes; no more follow in this tick. */
  flush(): void {
    if (!this.#isSettled) this.#options.answer.flush();
  }

  /**
   * Bytes from the provider. Call `flush` to send them, unless the end follows immediately. Returns false if the client
   * is far behind; `source` is resumed when it has caught up.
   */
  data(bytes: Buffer, source: AnswerSource): boolean {
    if (this.#isSettled) return true;
    this.#usage?.chunk(bytes);
    if (!this.#isCached && this.#answer.length + bytes.length <= ESTIMATE_BYTES_MAX) this.#answer.push(bytes);
    return this.#passage === undefined ? this.passed(bytes, source) : this.#passage.chunk(bytes, source);
  }

  end(): void {
    if (this.#isSettled) return;
    if (this.#passage === undefined) this.#finish(undefined);
    else this.#passage.end();
  }

  ended(last: Buffer | undefined): void {
    const verdicts = this.#passage?.transforms.flatMap((transform) => transform.verdict?.() ?? []) ?? [];
    if (verdicts.length === 0) return this.#finish(last);
    this.flush();
    Promise.all(verdicts).then(
      () => this.#finish(last),
      (error: unknown) => this.fail(error instanceof RefusalError ? error.refusal : { name: "aig_internal" }),
    );
  }

  #finish(rest: Buffer | undefined): void {
    if (this.#isSettled) return;
    const { record } = this.#options;
    let last = rest;
    if (last !== undefined && last.length > 0) {
      this.#responseBytes += last.length;
      record.sent(last);
    } else last = undefined;
    const hasFailed = this.#passage?.transforms.some((transform) => transform.hasFailed === true) === true;
    this.#settle(this.#status, this.#status < 400 && !hasFailed, { kind: "answer", last }, "finished");
  }

  /** Ends the exchange: with an error response if nothing was sent yet, otherwise by closing the connection. */
  fail(refusal: Refusal): void {
    if (this.#isSettled) return;
    const { answer, record } = this.#options;
    if (answer.hasBegun) {
      const last = this.#passage?.transforms.findLast(({ cut }) => cut !== undefined)?.cut?.(refusal.name);
      return this.#settle(this.#status, false, { kind: "cut", last });
    }
    const { status, body } = renderError(refusal);
    record.sent(Buffer.from(body));
    this.#settle(status, false, { kind: "refusal", refusal });
  }

  /** The row is written: a client that gets its response finds it in the log. */
  onKept(): void {
    const ending = this.#ending;
    this.#ending = NOTHING;
    try {
      this.#conclude(ending);
    } catch {
      // An unexpected error ends only this response, not others written in the same batch.
      this.#options.answer.cut(undefined);
    }
  }

  #conclude(ending: Ending): void {
    const { answer, fields, isRequestComplete } = this.#options;
    if (ending.kind === "answer") this.#sendLast(ending.last);
    else if (ending.kind === "cut") answer.cut(ending.last);
    // The client may still be sending, so its connection cannot carry another request.
    else if (ending.kind === "refusal") sendError(answer, ending.refusal, fields(this.#step, false), !isRequestComplete());
  }

  #sendLast(last: Buffer | undefined): void {
    const { answer } = this.#options;
    if (this.#heldHeaders === undefined) answer.end(last ?? this.#lastChunk);
    else if (this.#isHeldToEnd) {
      this.#writeHead(this.#heldHeaders);
      answer.end(this.#heldChunks.length === 1 ? (this.#heldChunks[0] as Buffer) : Buffer.concat(this.#heldChunks));
    } else {
      // A transformed response is complete only at its end, when its length is known.
      this.#writeHead([...this.#heldHeaders, "content-length", String(last?.length ?? 0)]);
      answer.end(last);
    }
  }

  #transform(head: AnswerHead): AnswerHead {
    const made = transformsFor(head, [...this.#step.transforms, ...this.#options.guards]);
    if (made.transforms !== undefined) this.#passage = new Passage(made.transforms, this);
    return made.head;
  }

  /** Runs code that may refuse the response. Returns false if it did; the exchange is then over. */
  #guarded(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      this.refused(error);
      return false;
    }
  }

  refused(error: unknown): void {
    this.fail(error instanceof RefusalError ? error.refusal : { name: "aig_internal" });
    const asker = this.#asker;
    this.#asker = undefined;
    asker?.leave();
  }

  passed(bytes: Buffer, source: AnswerSource): boolean {
    const { answer, limits, record } = this.#options;
    this.#responseBytes += bytes.length;
    record.sent(bytes);
    if (this.#isHeldToEnd) {
      this.#heldChunks.push(bytes);
      return true;
    }
    if (this.#heldHeaders !== undefined) {
      this.#writeHead(this.#heldHeaders);
      this.#heldHeaders = undefined;
    }
    if (this.#responseBytes === this.#length) {
      this.#lastChunk = bytes;
      return true;
    }
    this.#sentBefore = this.#sentLast;
    this.#sentLast = bytes;
    answer.write(bytes);
    if (answer.backlogBytes < limits.backlogBytesMax) return true;
    this.#source = source;
    return false;
  }

  #writeHead(headers: FlatHeaders): void {
    headers.push(...this.#options.lastFields());
    this.#options.answer.begin(this.#status, headers);
  }

  clientDrained(): void {
    const source = this.#source;
    this.#source = undefined;
    source?.resume();
  }

  clientGone(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    // Stops the provider first, because writing the row takes longer.
    this.#asker?.leave();
    const { answer } = this.#options;
    // Many clients disconnect after the last event, without waiting for the end of the connection.
    if (answer.hasBegun && this.#status < 400 && answer.backlogBytes === 0 && hasLastEvent([this.#sentBefore, this.#sentLast]))
      return this.#settle(this.#status, true, NOTHING, "finished");
    this.#settle(answer.hasBegun ? this.#status : CLIENT_GONE_STATUS, false, NOTHING, "client gone");
  }

  /** Writes the row, now or after tokens are estimated; the client then gets `ending`. */
  #settle(status: number, success: boolean, ending: Ending, end: StreamEnd = success ? "finished" : "cut"): void {
    this.#isSettled = true;
    this.#ending = ending;
    const { estimates } = this.#options;
    const told = this.#isCached ? CACHED_USAGE : (this.#usage?.end() ?? NO_USAGE);
    const guessed = this.#isCached || status >= 400 ? undefined : estimates.complete(this.#step, told, this.#answer, end);
    if (guessed instanceof Promise) {
      this.#options.answer.flush();
      this.#options.record.ended();
      void guessed.then((usage) => this.#record(status, success, usage, true));
    } else this.#record(status, success, guessed ?? told, guessed !== undefined);
  }

  #record(status: number, success: boolean, usage: Usage, isEstimated: boolean): void {
    const { record, requestBytes, onSettled, costOf } = this.#options;
    const step = this.#step;
    if (isEstimated) record.note({ estimated: true });
    // A provider that has begun, or was still working, may charge without reporting usage; a refused request costs nothing.
    const isOwed = status === CLIENT_GONE_STATUS || (this.#status > 0 && this.#status < 400);
    const { cost, isCustom } = isOwed ? costOf(step, usage, this.#isCached) : NO_COST;
    const outcome = {
      step,
      usage,
      cost,
      isCustomCost: isCustom,
      cached: this.#isCached,
      status,
      success,
      contentType: this.#contentType,
      requestBytes: requestBytes(),
      responseBytes: this.#responseBytes,
    };
    record.finish(outcome, this);
    this.#claim?.charge(usage, cost, isOwed);
    onSettled();
  }
}
