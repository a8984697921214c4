import { randomBytes } from "node:crypto";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { answerText } from "#gateway/streams/text-extraction.ts";
import { objectOf, parsedJson } from "#gateway/http/json.ts";
import { mediaType } from "#gateway/usage/usage.ts";

/** One request as an OpenTelemetry span: times in milliseconds, identifiers in lower-case hexadecimal. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Empty for a successful request. */
  readonly failure: string;
  readonly attributes: readonly (readonly [string, AttributeValue])[];
}

/** Whole numbers are sent as integers. */
export type AttributeValue = string | number | boolean;

/** The trace that a request itself names. */
export interface TraceParent {
  /** Undefined: a new trace. */
  readonly traceId: string | undefined;
  readonly parentSpanId: string | undefined;
}

/** A completed request with its secrets masked; without bodies if none may be kept. */
export interface SpanFacts {
  readonly row: GatewayLogRow;
  readonly request: Buffer | null;
  readonly response: readonly Buffer[];
  readonly parent: TraceParent;
}

/** Of a longer body, only the beginning is sent. */
const BODY_BYTES_MAX = 256 * 1024;

/**
 * Attributes are those that are published for this kind of gateway (reference, part A), and those by which a request is
 * found in the log.
 */
export function spanOf({ row, request, response, parent }: SpanFacts): Span {
  const { request_type = "", model, provider, metadata = "", event_id = "" } = row;
  const attributes: [string, AttributeValue | null][] = [
    ["gen_ai.operation.name", request_type],
    ["gen_ai.model.provider", provider],
    ["gen_ai.request.model", model],
    ["gen_ai.usage.input_tokens", row.tokens_in],
    ["gen_ai.usage.output_tokens", row.tokens_out],
    ["gen_ai.usage.cost", row.cost],
    ["gen_ai.prompt_json", promptJson(request)],
    ["gen_ai.completion_json", completionJson(response, row.response_content_type)],
    ["http.response.status_code", row.status_code],
    ["aig.account_id", row.account_id],
    ["aig.gateway_id", row.gateway_id],
    ["aig.log_id", row.id],
    ["aig.event_id", event_id],
    ["aig.step", row.step],
    ["aig.cached", row.cached],
    // Masking can make metadata invalid JSON.
    ...Object.entries((objectOf(parsedJson(metadata)) ?? {}) as Readonly<Record<string, AttributeValue>>),
  ];
  return {
    traceId: parent.traceId ?? randomBytes(16).toString("hex"),
    spanId: randomBytes(8).toString("hex"),
    parentSpanId: parent.parentSpanId ?? "",
    name: [request_type === "" ? row.method : request_type, model].filter((part) => part !== "").join(" "),
    startMs: row.at_ms,
    endMs: row.at_ms + row.duration_ms,
    failure: row.success ? "" : `status ${row.status_code}`,
    attributes: attributes.filter((pair): pair is [string, AttributeValue] => pair[1] !== null && pair[1] !== ""),
  };
}

function promptJson(request: Buffer | null): string | null {
  if (request === null || request.length === 0 || parsedJson(request.toString("utf8")) === undefined) return null;
  return beginning(request);
}

/** A stream is not JSON, so its text is sent in an object. */
function completionJson(response: readonly Buffer[], contentType: string): string | null {
  const bytes = Buffer.concat(response);
  if (bytes.length === 0) return null;
  if (mediaType(contentType) === "text/event-stream") return JSON.stringify({ content: answerText([bytes]).slice(0, BODY_BYTES_MAX) });
  return parsedJson(bytes.toString("utf8")) === undefined ? null : beginning(bytes);
}

const beginning = (bytes: Buffer): string => bytes.toString("utf8", 0, Math.min(bytes.length, BODY_BYTES_MAX));
