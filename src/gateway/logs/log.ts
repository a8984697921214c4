import { begins, CHAT_LOG } from "#kernel/process/heartbeat.ts";
import type { IncomingHttpHeaders } from "node:http";
import { type GatewayLogEntry, type GatewayLogSink, type KeepRule, type StoredWatcher } from "#events/logs/entry.ts";
import { createSlices, finish, type Work } from "#kernel/process/slices.ts";
import { BODIES_BYTES_MAX } from "#events/logs/segment.ts";
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
import { createSecretMask, credentialsOf, type SecretMask } from "./secret-mask.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";
import { mediaType } from "#gateway/usage/usage.ts";

/** Facts that are known when a request is accepted. */
export interface RequestFacts {
  /** ULID. */
  readonly id: string;
  readonly eventId: string;
  readonly gateway: GatewayEntry;
  readonly method: string;
  /** The client's header fields; its options for the row are read from them. */
  readonly headers: IncomingHttpHeaders;
  readonly body: ReadyBody;
  /** Whether the request is in another dialect than the provider's. */
  readonly isCompatible: boolean;
}

/** Facts that are known at the end of a request. */
export interface RequestOutcome {
  /** The step that answered, or the last that failed. */
  readonly step: Step;
  readonly usage: Usage;
  /** US dollars; null if unknown. */
  readonly cost: number | null;
  /** Whether the request itself named its cost. */
  readonly isCustomCost: boolean;
  readonly cached: boolean;
  readonly status: number;
  readonly success: boolean;
  readonly contentType: string;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** Columns of a row that other parts fill in during the exchange. */
type NotedColumn = "dlp_action" | "guardrail_action" | "guardrail_findings" | "estimated" | "compatibility_mode";

export interface LogRecord {
  readonly id: string;
  readonly eventId: string;
  /** Whether there will be a row. */
  readonly isLogged: boolean;
  /** Metadata of the request: JSON of an object; empty without metadata. */
  readonly metadata: string;
  /** Call with the head of the answer, before fields of the connection are removed. */
  answered(status: number, headers: IncomingHttpHeaders): void;
  /** Bytes of the answer as the client gets them; they must not change later. */
  sent(bytes: Buffer): void;
  /** Further facts, which overwrite earlier ones. */
  note(facts: Partial<Pick<GatewayLogRow, NotedColumn>>): void;
  /** The exchange is over; the row follows once missing counts are estimated. */
  ended(): void;
  /**
   * Writes the row and then notifies the watcher: the client gets its last byte after that. Only the first call counts,
   * so every way to an end may call it.
   */
  finish(outcome: RequestOutcome, watcher?: StoredWatcher): void;
}

export interface GatewayLog {
  /** Begins the only row of an accepted request. Do not call it for refused requests (SPEC 1.1). */
  begin(facts: RequestFacts): LogRecord;
  /** Resolves when the rows of all finished requests are written. */
  settled(): Promise<void>;
}

export interface GatewayLogDeps {
  readonly events: EventSink;
  /** Takes rows with their bodies; without it, rows are kept without bodies. */
  readonly logs?: GatewayLogSink;
  readonly mask?: SecretMask;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly vendorPrefix: string;
  /** Takes requests of gateways with endpoints for spans. */
  readonly spans: Pick<SpanExporter, "push">;
}

/** Bytes of answers that all requests together hold for their logs; above it, bodies are not logged. */
const HELD_BYTES_MAX = 256 * 1024 * 1024;
const CHUNKS_MAX = 64;
/** Longer bodies are masked in slices, and their rows follow. */
const AT_ONCE_BYTES_MAX = 128 * 1024;
const USER_AGENT_CHARACTERS_MAX = 512;

export function createGatewayLog(deps: GatewayLogDeps): GatewayLog {
  const tools = createTools(deps);
  const options = createLogOptions(deps.vendorPrefix);
  return {
    begin: (facts) => new Recorder(facts, options(facts.headers, facts.gateway), tools),
    settled: async () => void (await Promise.all(tools.pending)),
  };
}

type Tools = ReturnType<typeof createTools>;

function createTools({ events, logs, mask = createSecretMask(), clock, metrics, spans }: GatewayLogDeps) {
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
  const slices = createSlices();
  const pending = new Set<Promise<void>>();
  return {
    pending,
    later: (work: Work<GatewayLogEntry>, append: (entry: GatewayLogEntry) => void): void => {
      const appended = slices.run(work).then(append);
      pending.add(appended);
      void appended.finally(() => pending.delete(appended));
    },
    sink: logs ?? rowsOnly,
    spans,
    clock,
    mask,
    held: metrics.gauge("selvedge_gateway_buffered_log_bytes", "Responses in memory that wait to be logged"),
    requests: { ok: requests("ok"), failed: requests("failed") },
    tokens: { in: tokens("in"), out: tokens("out") },
  };
}

/** One row until it is written. A class, because one is created for every request and its shape must stay the same. */
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
    const room = Math.min(BODIES_BYTES_MAX - keptRequest(this.#facts.body).length - this.#heldBytes, HELD_BYTES_MAX - held.value);
    if (bytes.length > room) this.#keepsBody = false;
    const kept = bytes.length > room ? bytes.subarray(0, Math.max(0, room)) : bytes;
    this.#chunks.push(kept);
    this.#heldBytes += kept.length;
    held.value += kept.length;
    // Many small buffers take more memory than their bytes.
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

  finish(outcome: RequestOutcome, watcher?: StoredWatcher): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { requests, tokens, sink, held } = this.#tools;
    requests[outcome.success ? "ok" : "failed"].value++;
    tokens.in.value += outcome.usage.tokensIn ?? 0;
    tokens.out.value += outcome.usage.tokensOut ?? 0;
    const work = this.#entry(outcome);
    const append = (entry: GatewayLogEntry): void => {
      sink.append(entry, watcher);
      held.value -= this.#heldBytes;
      this.#chunks.clear();
    };
    if (this.#heldBytes + keptRequest(this.#facts.body).length <= AT_ONCE_BYTES_MAX) append(finish(work));
    else this.#tools.later(work, append);
  }

  *#entry(outcome: RequestOutcome): Work<GatewayLogEntry> {
    const { gateway, headers, body } = this.#facts;
    const { collect, collectPayload, isExported, trace } = this.#options;
    begins(CHAT_LOG, gateway.gateway_id);
    const row = this.#row(outcome);
    if (!collect && !isExported) return { row, keep: NOT_KEPT, request: null, response: [] };
    const secrets = credentialsOf(headers, outcome.step.headers, outcome.step.target);
    const keep = keepRule(gateway);
    const answer = this.#chunks.all();
    // The separator makes the first line of an answer begin after a line end, like its other lines.
    const bodies = collectPayload ? [keptRequest(body), SEPARATOR, ...answer] : [];
    const texts = Buffer.from(FREE_COLUMNS.map((column) => row[column] ?? "").join("\n"));
    const parts = [...bodies, SEPARATOR, texts];
    const form = {
      from: collectPayload ? (parts[0] as Buffer).length + SEPARATOR.length : 0,
      isOtherStream: isOtherStream(outcome.contentType, answer[0]),
    };
    const masked = yield* this.#tools.mask.mask(parts, secrets, form);
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
      guardrail_action: "",
      guardrail_findings: "",
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

/** The beginning of a streamed body is in memory. */
const keptRequest = (body: ReadyBody): Buffer => {
  const bytes = body.kind === "whole" ? body.bytes : body.head;
  return bytes.length > BODIES_BYTES_MAX ? bytes.subarray(0, BODIES_BYTES_MAX) : bytes;
};

/** Columns whose values clients choose. */
const FREE_COLUMNS = ["path", "model", "event_id", "metadata", "user_agent", "request_content_type", "response_content_type"] as const;

/** Separates parts that do not belong together. */
const SEPARATOR = Buffer.from("\n");
const BRACKET = 0x5b;
const OTHER_STREAM = /eventstream|ndjson|jsonl|json-seq|stream\+json/;

/** Streamed answers that are not event streams: Amazon's messages, lines of JSON, or an array as from Gemini. */
const isOtherStream = (contentType: string, first: Buffer | undefined): boolean =>
  OTHER_STREAM.test(contentType) || (first?.[0] === BRACKET && contentType.includes("json"));

function withTexts(row: GatewayLogRow, masked: Buffer): GatewayLogRow {
  const texts = masked.toString().split("\n");
  // A masked secret that crossed the end of a column has replaced the line's end.
  const values = texts.length === FREE_COLUMNS.length ? texts : FREE_COLUMNS.map(() => "");
  return { ...row, ...Object.fromEntries(FREE_COLUMNS.map((column, i) => [column, values[i]])) };
}
