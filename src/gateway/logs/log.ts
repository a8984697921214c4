import { begins, CHAT_LOG } from "#kernel/process/heartbeat.ts";
import type { IncomingHttpHeaders } from "node:http";
import { type GatewayLogEntry, type GatewayLogSink, type KeepRule, type KeptWatcher } from "#events/logs/entry.ts";
import { KEPT_BYTES_MAX } from "#events/logs/segment.ts";
import type { EventSink, GatewayLogRow } from "#events/rows/rows.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import type { GatewayEntry } from "#snapshot/entries.ts";
import { atTickEnd } from "#kernel/process/tick-queue.ts";
import { createLogOptions, type LogOptions } from "./log-options.ts";
import type { SpanExporter } from "#gateway/tracing/span-exporter.ts";
import { ChunkList } from "#gateway/http/chunks.ts";
import type { ReadyBody, Step } from "#gateway/request/plan.ts";
import { requestKind } from "#gateway/request/endpoint-types.ts";
import { createSecretMask, credentialsOf } from "./secret-mask.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";
import { mediaType } from "#gateway/usage/usage.ts";

/** What is known when a request is accepted. */
export interface RequestFacts {
  /** ULID. */
  readonly id: string;
  readonly eventId: string;
  readonly gateway: GatewayEntry;
  readonly method: string;
  /** As the client sent it: fields of its own for the row are read from here. */
  readonly headers: IncomingHttpHeaders;
  readonly body: ReadyBody;
  /** Written in another form than the provider's. */
  readonly isCompatible: boolean;
}

/** What is known when it is over. */
export interface RequestOutcome {
  /** The step that answered or failed last. */
  readonly step: Step;
  readonly usage: Usage;
  /** US dollars; null where nobody knows. */
  readonly cost: number | null;
  /** The request said itself what it costs. */
  readonly isCustomCost: boolean;
  readonly cached: boolean;
  readonly status: number;
  readonly success: boolean;
  readonly contentType: string;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

export interface LogRecord {
  readonly id: string;
  readonly eventId: string;
  /** Whether there will be a row. */
  readonly isLogged: boolean;
  /** What the request says of itself: JSON of an object; empty where there is none. */
  readonly metadata: string;
  /** The answer begins with this head, before fields of one connection are taken out of it. */
  answered(status: number, headers: IncomingHttpHeaders): void;
  /** Bytes of the answer as the client gets them; nobody may change them any more. */
  sent(bytes: Buffer): void;
  /** Further facts, which overwrite. */
  note(facts: Partial<Pick<GatewayLogRow, "dlp_action" | "estimated" | "compatibility_mode">>): void;
  /** The exchange is over, and the row follows once counts that nobody told are guessed. */
  ended(): void;
  /**
   * Writes the row down, and tells the watcher when it is: the client gets its last byte after that. Only the first call counts:
   * every way to an end may call it.
   */
  finish(outcome: RequestOutcome, watcher?: KeptWatcher): void;
}

export interface GatewayLog {
  /** Begins the one row of an accepted request. Refused requests must not come here (SPEC 1.1). */
  begin(facts: RequestFacts): LogRecord;
}

export interface GatewayLogDeps {
  readonly events: EventSink;
  /** Takes rows with their bodies; without it only rows are kept. */
  readonly logs?: GatewayLogSink;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly vendorPrefix: string;
  /** Takes requests of gateways that have endpoints for spans. */
  readonly spans: Pick<SpanExporter, "push">;
}

/** Answers that all requests together hold for their logs; above it their bodies are not kept. */
const HELD_BYTES_MAX = 256 * 1024 * 1024;
const CHUNKS_MAX = 64;
const USER_AGENT_CHARACTERS_MAX = 512;

export function createGatewayLog(deps: GatewayLogDeps): GatewayLog {
  const tools = createTools(deps);
  const options = createLogOptions(deps.vendorPrefix);
  return { begin: (facts) => new Recorder(facts, options(facts.headers, facts.gateway), tools) };
}

type Tools = ReturnType<typeof createTools>;

function createTools({ events, logs, clock, metrics, spans }: GatewayLogDeps) {
  const requests = (outcome: string): Metric =>
    metrics.counter("selvedge_gateway_requests_total", "Accepted gateway requests by outcome", { outcome });
  const tokens = (direction: string): Metric =>
    metrics.counter("selvedge_gateway_tokens_total", "Tokens reported by providers", { direction });
  const rowsOnly: GatewayLogSink = {
    append: ({ row, keep }, watcher) => {
      if (keep.mode !== "none") events.push("gateway_logs", row);
      if (watcher !== undefined) atTickEnd({ onTickEnd: () => watcher.onKept() });
    },
  };
  return {
    sink: logs ?? rowsOnly,
    spans,
    clock,
    mask: createSecretMask(),
    held: metrics.gauge("selvedge_gateway_buffered_log_bytes", "Responses in memory that wait to be logged"),
    requests: { ok: requests("ok"), failed: requests("failed") },
    tokens: { in: tokens("in"), out: tokens("out") },
  };
}

/** One row on its way. A class, since one is made for every request and its shape must stay the same. */
class Recorder implements LogRecord {
  readonly id: string;
  readonly eventId: string;
  readonly isLogged: boolean;
  readonly metadata: string;
  readonly #facts: RequestFacts;
  readonly #options: LogOptions;
  readonly #tools: Tools;
  readonly #atMs: number;
  readonly #startedMs: number;
  #noted: Partial<GatewayLogRow> | undefined;
  #firstByteMs: number | null = null;
  #endedMs: number | undefined;
  #chunks = new ChunkList();
  #heldBytes = 0;
  #keepsBody: boolean;
  #isOpen = true;

  constructor(facts: RequestFacts, options: LogOptions, tools: Tools) {
    this.id = facts.id;
    this.eventId = facts.eventId;
    this.isLogged = options.collect;
    this.metadata = options.metadata;
    this.#facts = facts;
    this.#options = options;
    this.#tools = tools;
    this.#atMs = tools.clock.nowMs();
    this.#startedMs = tools.clock.monotonicMs();
    this.#keepsBody = (options.collect || options.isExported) && options.collectPayload;
  }

  answered(): void {
    this.#firstByteMs ??= this.#elapsedMs();
  }

  sent(bytes: Buffer): void {
    if (!this.#keepsBody || !this.#isOpen) return;
    const { held } = this.#tools;
    const room = Math.min(KEPT_BYTES_MAX - keptRequest(this.#facts.body).length - this.#heldBytes, HELD_BYTES_MAX - held.value);
    if (bytes.length > room) this.#keepsBody = false;
    const kept = bytes.length > room ? bytes.subarray(0, Math.max(0, room)) : bytes;
    this.#chunks.push(kept);
    this.#heldBytes += kept.length;
    held.value += kept.length;
    // Many small pieces weigh more than what is in them.
    if (this.#chunks.count >= CHUNKS_MAX) {
      const joined = this.#chunks.joined();
      this.#chunks.clear();
      this.#chunks.push(joined);
    }
  }

  ended(): void {
    this.#endedMs ??= this.#elapsedMs();
  }

  note(facts: Partial<GatewayLogRow>): void {
    // few: the columns of a row
    this.#noted = { ...this.#noted, ...facts };
  }

  finish(outcome: RequestOutcome, watcher?: KeptWatcher): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { requests, tokens, sink, held } = this.#tools;
    requests[outcome.success ? "ok" : "failed"].value++;
    tokens.in.value += outcome.usage.tokensIn ?? 0;
    tokens.out.value += outcome.usage.tokensOut ?? 0;
    sink.append(this.#entry(outcome), watcher);
    held.value -= this.#heldBytes;
    this.#chunks.clear();
  }

  #entry(outcome: RequestOutcome): GatewayLogEntry {
    const { gateway, headers, body } = this.#facts;
    const { collect, collectPayload, isExported, trace } = this.#options;
    begins(CHAT_LOG, gateway.gateway_id);
    const row = this.#row(outcome);
    if (!collect && !isExported) return { row, keep: NOT_KEPT, request: null, response: [] };
    const secrets = credentialsOf(headers, outcome.step.headers, outcome.step.target);
    const keep = keepRule(gateway);
    const answer = this.#chunks.all();
    // Lines of an answer begin behind the end of one, the first of them too.
    const bodies = collectPayload ? [keptRequest(body), SEPARATOR, ...answer] : [];
    const texts = Buffer.from(FREE_COLUMNS.map((column) => row[column] ?? "").join("\n"));
    const parts = [...bodies, SEPARATOR, texts];
    const form = {
      from: collectPayload ? (parts[0] as Buffer).length + SEPARATOR.length : 0,
      isOtherStream: isOtherStream(outcome.contentType, answer[0]),
    };
    const masked = this.#tools.mask.mask(parts, secrets, form);
    const [request = null, , ...response] = masked.slice(0, bodies.length);
    const maskedTexts = masked.at(-1) as Buffer;
    const shown = maskedTexts === texts ? row : withTexts(row, maskedTexts);
    if (isExported) this.#tools.spans.push(gateway, { row: shown, request, response, parent: trace });
    return collect ? { row: shown, keep, request, response } : { row: shown, keep: NOT_KEPT, request: null, response: [] };
  }

  #row(outcome: RequestOutcome): GatewayLogRow {
    const { step, usage } = outcome;
    const { id, eventId, gateway, method, headers, isCompatible } = this.#facts;
    const { request_type, model_type } = requestKind(step.path);
    return {
      id,
      at_ms: this.#atMs,
      account_id: gateway.account_id,
      gateway_id: gateway.gateway_id,
      provider: step.provider,
      model: step.model,
      path: step.path,
      method,
      status_code: outcome.status,
      success: outcome.success,
      cached: outcome.cached,
      duration_ms: this.#endedMs ?? this.#elapsedMs(),
      tokens_in: usage.tokensIn,
      tokens_out: usage.tokensOut,
      cost: outcome.cost,
      step: step.index,
      request_content_type: mediaType(headers["content-type"] ?? ""),
      response_content_type: outcome.contentType,
      request_bytes: outcome.requestBytes,
      response_bytes: outcome.responseBytes,
      event_id: eventId,
      metadata: this.#options.metadata,
      model_type,
      request_type,
      user_agent: (headers["user-agent"] ?? "").slice(0, USER_AGENT_CHARACTERS_MAX),
      custom_cost: outcome.isCustomCost,
      estimated: false,
      tokens_cache_read: usage.tokensCacheRead ?? null,
      tokens_cache_write: usage.tokensCacheWrite ?? null,
      tokens_reasoning: usage.tokensReasoning ?? null,
      first_byte_ms: this.#firstByteMs,
      authentication: gateway.authentication,
      compatibility_mode: isCompatible,
      dlp_action: "",
      ...this.#noted,
    };
  }

  #elapsedMs(): number {
    return Math.round(this.#tools.clock.monotonicMs() - this.#startedMs);
  }
}

const NOT_KEPT: KeepRule = { mode: "none", rowsMax: null };
const KEPT: KeepRule = { mode: "STOP_INSERTING", rowsMax: null };

const keepRule = ({ log_limit }: GatewayEntry): KeepRule =>
  log_limit === undefined ? KEPT : { mode: log_limit.strategy, rowsMax: log_limit.rows_max };

/** Of a body that is streamed, its beginning is here. */
const keptRequest = (body: ReadyBody): Buffer => {
  const bytes = body.kind === "whole" ? body.bytes : body.head;
  return bytes.length > KEPT_BYTES_MAX ? bytes.subarray(0, KEPT_BYTES_MAX) : bytes;
};

/** What clients may write into a row. */
const FREE_COLUMNS = ["path", "model", "event_id", "metadata", "user_agent", "request_content_type", "response_content_type"] as const;

/** Stands between what belongs to nothing before it. */
const SEPARATOR = Buffer.from("\n");
const BRACKET = 0x5b;
const OTHER_STREAM = /eventstream|ndjson|jsonl|json-seq|stream\+json/;

/** Answers that come piece by piece in another framing than events: messages of Amazon's, lines of JSON, an array as Gemini has it. */
const isOtherStream = (contentType: string, first: Buffer | undefined): boolean =>
  OTHER_STREAM.test(contentType) || (first?.[0] === BRACKET && contentType.includes("json"));

function withTexts(row: GatewayLogRow, masked: Buffer): GatewayLogRow {
  const texts = masked.toString().split("\n");
  // A secret that reached over the end of a column would have taken the line's end along.
  const values = texts.length === FREE_COLUMNS.length ? texts : FREE_COLUMNS.map(() => "");
  return { ...row, ...Object.fromEntries(FREE_COLUMNS.map((column, i) => [column, values[i]])) };
}
