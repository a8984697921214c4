import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { GatewayEntry, OtelEndpointEntry } from "#snapshot/entries.ts";
import type { GatewayLimits } from "#gateway/config.ts";
import { RefusalError } from "#gateway/http/errors.ts";
import type { Pools } from "#gateway/providers/pools.ts";
import { fetchBuffered } from "#gateway/providers/fetch-buffered.ts";
import { encodeSpans } from "./otlp.ts";
import { type Span, type SpanFacts, spanOf } from "./span.ts";

/** Sends spans of requests to the endpoints of their gateways, after a short delay. */
export interface SpanExporter {
  /** Never throws. Spans that an endpoint does not accept in time are dropped and counted. */
  push(gateway: GatewayEntry, facts: SpanFacts): void;
  /** Sends the waiting spans, for at most the given time. */
  close(timeoutMs: number): Promise<void>;
}

export interface SpanExporterDeps {
  readonly pools: Pools;
  readonly sealer: Pick<Sealer, "open"> | undefined;
  readonly metrics: MetricRegistry;
  readonly limits: Pick<GatewayLimits, "spanDelayMs" | "spanRetryDelayMs">;
  /**
   * Member of CDN-Loop, for an endpoint that leads back to the gateway: without it, each batch of spans would cause
   * another span.
   */
  readonly loop: string;
}

const BATCH_SPANS_MAX = 256;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** Limits of one endpoint, and of all together. */
const WAITING_SPANS_MAX = 4096;
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
const ATTEMPTS_MAX = 5;
const RETRY_AFTER_SECONDS_MAX = 60;
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const STATUS_NOT_ALLOWED = 403;
/** OTLP/HTTP, "Retryable Response Codes"; 0: no answer. */
const RETRIED: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);

interface Waiting {
  readonly span: Span;
  readonly bytes: number;
}

/** An endpoint with waiting spans. */
interface Queue {
  readonly endpoint: OtelEndpointEntry;
  readonly context: string;
  readonly waiting: Waiting[];
  timer: NodeJS.Timeout | undefined;
  sending: Promise<void> | undefined;
}

export function createSpanExporter(deps: SpanExporterDeps): SpanExporter {
  const { pools, sealer, metrics, limits } = deps;
  const count = (outcome: string) =>
    metrics.counter("selvedge_gateway_spans_total", "Spans for customers' endpoints by outcome", { outcome });
  const [sent, dropped] = [count("sent"), count("dropped")];
  const queues = new Map<string, Queue>();
  let bytesWaiting = 0;
  let isClosing = false;
  /** Functions that end the pauses between attempts. */
  const pauses = new Set<() => void>();
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        pauses.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms).unref();
      pauses.add(done);
    });

  const post = async ({ endpoint, context }: Queue, batch: readonly Span[]): Promise<{ status: number; afterSeconds: number }> => {
    const url = new URL(endpoint.url);
    const fields = JSON.parse(sealer?.open(endpoint.secret, context).toString("utf8") ?? "{}") as Record<string, string>;
    const { contentType, body } = encodeSpans(endpoint.content_type, batch);
    const headers = ["content-type", contentType, "accept-encoding", "identity", "user-agent", "selvedge-gateway", "cdn-loop", deps.loop];
    for (const [name, value] of Object.entries(fields)) if (name !== "cdn-loop") headers.push(name, value);
    const target = url.pathname + url.search;
    const { status, headers: told } = await fetchBuffered(
      pools.get(url.origin, { isGuarded: true }),
      { method: "POST", target, headers, body },
      { timeoutMs: TIMEOUT_MS, answerBytesMax: ANSWER_BYTES_MAX },
    );
    return { status, afterSeconds: secondsIn(told["retry-after"]) };
  };

  /** Returns whether the endpoint accepted the spans. */
  const deliver = async (queue: Queue, batch: readonly Span[]): Promise<boolean> => {
    for (let attempt = 1; ; attempt++) {
      const { status, afterSeconds } = await post(queue, batch).catch((error: unknown) => ({
        // The refusal is of an address that is not permitted; a retry would not change that.
        status: error instanceof RefusalError ? STATUS_NOT_ALLOWED : 0,
        afterSeconds: 0,
      }));
      if (status >= 200 && status < 300) return true;
      if (!RETRIED.has(status) || attempt >= ATTEMPTS_MAX || isClosing) return false;
      await pause(Math.max(limits.spanRetryDelayMs * 2 ** (attempt - 1), afterSeconds * 1000));
    }
  };

  const drain = async (name: string, queue: Queue): Promise<void> => {
    while (queue.waiting.length > 0) {
      const batch = takeBatch(queue.waiting);
      const isTaken = await deliver(
        queue,
        batch.map(({ span }) => span),
      );
      (isTaken ? sent : dropped).value += batch.length;
      for (const { bytes } of batch) bytesWaiting -= bytes;
    }
    queue.sending = undefined;
    if (queues.get(name) === queue) queues.delete(name);
  };
  const send = (name: string, queue: Queue): void => {
    clearTimeout(queue.timer);
    queue.timer = undefined;
    queue.sending ??= drain(name, queue);
  };

  const queueFor = (name: string, endpoint: OtelEndpointEntry, context: string): Queue => {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue: Queue = { endpoint, context, waiting: [], timer: undefined, sending: undefined };
    queues.set(name, queue);
    return queue;
  };

  return {
    push: ({ account_id, gateway_id, otel = [] }, facts) => {
      const span = spanOf(facts);
      const bytes = sizeOf(span);
      for (const endpoint of otel) {
        // A sealed value differs with each write, so a changed endpoint gets a new queue.
        const name = `${account_id}/${gateway_id} ${endpoint.url} ${endpoint.secret}`;
        const queue = queueFor(name, endpoint, `gateway-otel:${account_id}/${gateway_id}`);
        if (isClosing || queue.waiting.length >= WAITING_SPANS_MAX || bytesWaiting + bytes > WAITING_BYTES_MAX) {
          dropped.value++;
          continue;
        }
        queue.waiting.push({ span, bytes });
        bytesWaiting += bytes;
        if (queue.waiting.length >= BATCH_SPANS_MAX) send(name, queue);
        else if (queue.sending === undefined) queue.timer ??= setTimeout(() => send(name, queue), limits.spanDelayMs).unref();
      }
    },
    close: async (timeoutMs) => {
      isClosing = true;
      for (const done of Array.from(pauses)) done();
      for (const [name, queue] of queues) send(name, queue);
      const all = Promise.all(Array.from(queues.values(), ({ sending }) => sending));
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(limit.resolve, timeoutMs);
      await Promise.race([all, limit.promise]);
      clearTimeout(timer);
    },
  };
}

/** The first spans, as many as fit into one request. */
function takeBatch(waiting: Waiting[]): Waiting[] {
  let end = 0;
  for (let bytes = 0; end < waiting.length && end < BATCH_SPANS_MAX; end++) {
    bytes += (waiting[end] as Waiting).bytes;
    if (end > 0 && bytes > BATCH_BYTES_MAX) break;
  }
  return waiting.splice(0, end);
}

const SPAN_BYTES = 1024;

/** Approximate bytes in memory. */
const sizeOf = ({ attributes }: Span): number =>
  attributes.reduce((sum, [, value]) => sum + (typeof value === "string" ? value.length : 8), SPAN_BYTES);

/** RFC 9110 §10.2.3, in seconds; dates are ignored, because clocks differ. */
const secondsIn = (value: string | string[] | undefined): number =>
  typeof value === "string" && /^\d{1,6}$/.test(value) ? Math.min(Number(value), RETRY_AFTER_SECONDS_MAX) : 0;
