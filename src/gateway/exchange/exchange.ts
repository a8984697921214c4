import type { IncomingHttpHeaders } from "node:http";
import type { KeptWatcher } from "#events/logs/entry.ts";
import type { AnswerSink, AnswerWatcher } from "#gateway/listen/response-writer.ts";
import type { GatewayLimits } from "#gateway/config.ts";
import type { Cost } from "#gateway/costs/costs.ts";
import { type Refusal, RefusalError, renderError } from "#gateway/http/errors.ts";
import { sendError } from "#gateway/listen/send-error.ts";
import { ANSWER_BYTES_KEPT, type Estimates, type StreamEnd } from "#gateway/costs/token-estimates.ts";
import type { FlatHeaders, HeaderRules } from "#gateway/http/headers.ts";
import type { LogRecord } from "#gateway/logs/log.ts";
import { Pieces } from "#gateway/http/chunks.ts";
import type { AnswerHead, AnswerTransform, MakeTransform, Step } from "#gateway/request/plan.ts";
import { hasLastEvent } from "#gateway/streams/stream-end.ts";
import type { SpendClaim } from "#gateway/limits/spend-limits.ts";
import { NO_USAGE, type Usage } from "#gateway/usage/usage-formats.ts";
import { UsageReader } from "#gateway/usage/usage.ts";

/** Status of the row when the client left before the answer began; no client ever sees it. */
const CLIENT_GONE_STATUS = 499;
/** Nothing was counted anew for an answer that was kept. */
const CACHED_USAGE: Usage = { tokensIn: 0, tokensOut: 0 };
const NO_BYTES: Buffer = Buffer.alloc(0);
const NO_COST: Cost = { cost: null, isCustom: false };

export interface ExchangeOptions {
  readonly answer: AnswerSink;
  readonly rules: HeaderRules;
  /** Fields that the gateway adds to the answer of a step. */
  readonly fields: (step: Step, isCached: boolean) => FlatHeaders;
  /** What every answer goes through after its step's own transforms. */
  readonly guards: readonly MakeTransform[];
  /** Fields that are known only when the answer's first byte goes out. */
  readonly lastFields: () => FlatHeaders;
  readonly costOf: (step: Step, usage: Usage, isCached: boolean) => Cost;
  readonly estimates: Estimates;
  readonly limits: GatewayLimits;
  readonly record: LogRecord;
  /** Bytes of the request's body so far. */
  readonly requestBytes: () => number;
  /** HEAD answers have a length and no body. */
  readonly isHead: boolean;
  /** All of the request has come. */
  readonly isRequestComplete: () => boolean;
  /** Called once, whatever the end. */
  readonly onSettled: () => void;
}

/** Who asks a provider, or waits to. */
export interface Asker {
  leave(): void;
}

/** What the client gets once the row is written down. */
type Ending =
  /** `last`: what came out of the transforms at the end. */
  | { readonly kind: "answer"; readonly last: Buffer | undefined }
  | { readonly kind: "cut"; readonly last: Buffer | undefined }
  | { readonly kind: "refusal"; readonly refusal: Refusal }
  | typeof NOTHING;

const NOTHING = { kind: "nothing" } as const;

/** Where an answer's bytes come from. */
export interface AnswerSource {
  /** The client has caught up. */
  resume(): void;
}

/**
 * One request under way, from the client's side: carries the answer of one step to the client and settles the log row,
 * once. A class, since one is made for every request and its shape must stay the same.
 */
export class Exchange implements AnswerWatcher, KeptWatcher {
  readonly #options: ExchangeOptions;
  /** The step whose answer goes out, or which is tried. */
  #step: Step;
  #usage: UsageReader | undefined;
  #status = 0;
  #contentType = "";
  #responseBytes = 0;
  #isCached = false;
  #transforms: readonly AnswerTransform[] | undefined;
  /** The head of an answer that is held back to go out with its first bytes, or in one write with all of them. */
  #heldHeaders: FlatHeaders | undefined;
  #isHeldToEnd = false;
  readonly #heldChunks: Buffer[] = [];
  /** Of an answer that goes out as it comes: where it ends by its own word, and the piece that ends it. */
  #length = Number.NaN;
  #lastChunk: Buffer | undefined;
  /** What the client got last, and before. */
  #sentLast = NO_BYTES;
  #sentBefore = NO_BYTES;
  /** What counts are guessed from, where none are told. */
  readonly #answer = new Pieces();
  #isSettled = false;
  #ending: Ending = NOTHING;
  #asker: Asker | undefined;
  #source: AnswerSource | undefined;
  #claim: Pick<SpendClaim, "charge"> | undefined;

  /** `step`: the one that is tried first. */
  constructor(options: ExchangeOptions, step: Step) {
    this.#options = options;
    this.#step = step;
    options.answer.watcher = this;
    if (options.answer.isGone) this.clientGone();
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Who is told when nobody wants the answer any more: there is one at a time. */
  set asker(asker: Asker | undefined) {
    this.#asker = asker;
  }

  /** Who is told what the step came to; there is one at a time. */
  set claim(claim: Pick<SpendClaim, "charge"> | undefined) {
    this.#claim = claim;
  }

  /** The step that is tried from now on: what fails, fails in its name. */
  trying(step: Step): void {
    this.#step = step;
  }

  /** The answer begins, and with it the time when nothing can be tried again. Gives false where it ended at once. */
  begin(status: number, headers: IncomingHttpHeaders, isCached = false): boolean {
    if (this.#isSettled) return false;
    const { rules, limits, isHead, fields, guards } = this.#options;
    const step = this.#step;
    this.#isCached = isCached;
    if (!isCached) this.#usage = new UsageReader(step.usage, String(headers["content-type"] ?? ""), headers["content-encoding"]);
    let head: AnswerHead = { status, headers };
    if (step.transforms.length + guards.length > 0 && !isHead && !this.#guarded(() => void (head = this.#transform(step, head))))
      return false;
    this.#status = head.status;
    this.#contentType = String(head.headers["content-type"] ?? "");
    const forClient = rules.toClient(head.headers);
    forClient.push(...fields(step, isCached));
    this.#options.record.answered(head.status, head.headers);
    const length = Number(head.headers["content-length"] ?? Number.NaN);
    if (length <= limits.responseBufferBytes || isHead || this.#transforms !== undefined) {
      this.#heldHeaders = forClient;
      this.#isHeldToEnd = this.#transforms === undefined;
      return true;
    }
    this.#length = length;
    this.#writeHead(forClient);
    return true;
  }

  /** Nothing more comes in this turn. */
  flush(): void {
    if (!this.#isSettled) this.#options.answer.flush();
  }

  /**
   * Bytes of the provider's; `flush` sends them where the end does not follow at once. False: the client is far behind, `source`
   * is resumed when it has caught up.
   */
  data(bytes: Buffer, source: AnswerSource): boolean {
    if (this.#isSettled) return true;
    this.#usage?.chunk(bytes);
    if (!this.#isCached && this.#answer.length + bytes.length <= ANSWER_BYTES_KEPT) this.#answer.push(bytes);
    if (this.#transforms === undefined) return this.#send(bytes, source);
    let chunk: Buffer | undefined;
    try {
      chunk = transformed(this.#transforms, bytes);
    } catch (error) {
      this.#refused(error);
      return true;
    }
    return chunk === undefined || chunk.length === 0 || this.#send(chunk, source);
  }

  end(): void {
    if (this.#isSettled) return;
    let last: Buffer | undefined;
    if (this.#transforms !== undefined && !this.#guarded(() => void (last = transformedEnd(this.#transforms ?? [])))) return;
    const verdicts = this.#transforms?.flatMap((transform) => transform.verdict?.() ?? []) ?? [];
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
    const hasFailed = this.#transforms?.some((transform) => transform.hasFailed === true) === true;
    this.#settle(this.#status, this.#status < 400 && !hasFailed, { kind: "answer", last }, "finished");
  }

  /** Ends the exchange: with an error where nothing went out yet, else by cutting the client off. */
  fail(refusal: Refusal): void {
    if (this.#isSettled) return;
    const { answer, record } = this.#options;
    if (answer.hasBegun) {
      const last = this.#transforms?.findLast(({ cut }) => cut !== undefined)?.cut?.(refusal.name);
      return this.#settle(this.#status, false, { kind: "cut", last });
    }
    const { status, body } = renderError(refusal);
    record.sent(Buffer.from(body));
    this.#settle(status, false, { kind: "refusal", refusal });
  }

  /** The row is written down: whoever gets an answer finds it in the log. */
  onKept(): void {
    const ending = this.#ending;
    this.#ending = NOTHING;
    try {
      this.#conclude(ending);
    } catch {
      // What is thrown here nobody foresaw; it costs this answer, not those that were kept with it.
      this.#options.answer.cut(undefined);
    }
  }

  #conclude(ending: Ending): void {
    const { answer, fields, isRequestComplete } = this.#options;
    if (ending.kind === "answer") this.#sendLast(ending.last);
    else if (ending.kind === "cut") answer.cut(ending.last);
    // The client may still be sending; its connection cannot carry another request.
    else if (ending.kind === "refusal") sendError(answer, ending.refusal, fields(this.#step, false), !isRequestComplete());
  }

  #sendLast(last: Buffer | undefined): void {
    const { answer } = this.#options;
    if (this.#heldHeaders === undefined) answer.end(last ?? this.#lastChunk);
    else if (this.#isHeldToEnd) {
      this.#writeHead(this.#heldHeaders);
      answer.end(this.#heldChunks.length === 1 ? (this.#heldChunks[0] as Buffer) : Buffer.concat(this.#heldChunks));
    } else {
      // All of a transformed answer comes at its end: now its length is known.
      this.#writeHead([...this.#heldHeaders, "content-length", String(last?.length ?? 0)]);
      answer.end(last);
    }
  }

  /** Makes what the answer goes through, and gives the head that comes out of it. */
  #transform(step: Step, head: AnswerHead): AnswerHead {
    const made: AnswerTransform[] = [];
    let current = head;
    for (const make of [...step.transforms, ...this.#options.guards]) {
      const transform = make(current);
      if (transform === undefined) continue;
      made.push(transform);
      current = transform.head(current);
    }
    if (made.length === 0) return head;
    this.#transforms = made;
    const { "content-length": _length, ...headers } = current.headers;
    return { status: current.status, headers };
  }

  /** Runs what may refuse the answer. False: it did, and all is over. */
  #guarded(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      this.#refused(error);
      return false;
    }
  }

  #refused(error: unknown): void {
    this.fail(error instanceof RefusalError ? error.refusal : { name: "aig_internal" });
    const asker = this.#asker;
    this.#asker = undefined;
    asker?.leave();
  }

  #send(bytes: Buffer, source: AnswerSource): boolean {
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
    // The provider is told first: the row takes longer.
    this.#asker?.leave();
    const { answer } = this.#options;
    // Many clients leave with the last event, and not with the connection's.
    if (answer.hasBegun && this.#status < 400 && answer.backlogBytes === 0 && hasLastEvent([this.#sentBefore, this.#sentLast]))
      return this.#settle(this.#status, true, NOTHING, "finished");
    this.#settle(answer.hasBegun ? this.#status : CLIENT_GONE_STATUS, false, NOTHING, "client gone");
  }

  /** Writes the row down, at once or when what nobody told is guessed; the client gets its ending after it. */
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
    // A provider that has begun, or was left at work, may ask for money without having said how much; what was refused costs nothing.
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

function transformed(transforms: readonly AnswerTransform[], bytes: Buffer): Buffer | undefined {
  let current: Buffer | undefined = bytes;
  for (const transform of transforms) {
    if (current === undefined || current.length === 0) return undefined;
    current = transform.chunk(current);
  }
  return current;
}

/** What each one has left goes through those after it. */
function transformedEnd(transforms: readonly AnswerTransform[]): Buffer | undefined {
  let left: Buffer | undefined;
  for (const transform of transforms) {
    const passed: Buffer | undefined = left === undefined || left.length === 0 ? undefined : transform.chunk(left);
    const own = transform.end();
    left = passed === undefined ? own : own === undefined ? passed : Buffer.concat([passed, own]);
  }
  return left;
}
