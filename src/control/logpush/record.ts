import { isUtf8 } from "node:buffer";
import type { TailedLog } from "#events/logs/tail.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { LOG_FIELDS, type LogField, type LogOutput, type TimestampFormat } from "#model/events/logpush.ts";
import type { LogEncryption } from "#control/gateways/log-encryption.ts";

/** The largest record with bodies (ai-gateway.md): if it would be exceeded, bodies are omitted, the longer one first. */
const RECORD_BYTES_MAX = 1024 * 1024;

type PlainField = Exclude<LogField, "Timestamp" | "Metadata" | "RequestBody" | "ResponseBody">;
type Parts = Partial<Record<LogField, unknown>>;

const PLAIN: Readonly<Record<PlainField, (row: GatewayLogRow) => string | number | boolean | null>> = {
  Cached: (row) => row.cached,
  Endpoint: (row) => row.path,
  Gateway: (row) => row.gateway_id,
  Model: (row) => row.model,
  Provider: (row) => row.provider,
  RateLimited: () => false,
  StatusCode: (row) => row.status_code,
  LogID: (row) => row.id,
  EventID: (row) => row.event_id ?? "",
  Method: (row) => row.method,
  Success: (row) => row.success,
  Step: (row) => row.step,
  ModelType: (row) => row.model_type ?? "",
  RequestType: (row) => row.request_type ?? "",
  DurationMs: (row) => row.duration_ms,
  FirstByteMs: (row) => row.first_byte_ms ?? null,
  TokensIn: (row) => row.tokens_in,
  TokensOut: (row) => row.tokens_out,
  TokensInCached: (row) => row.tokens_cache_read ?? null,
  TokensOutReasoning: (row) => row.tokens_reasoning ?? null,
  TokensEstimated: (row) => row.estimated ?? false,
  Cost: (row) => row.cost,
  RequestContentType: (row) => row.request_content_type,
  ResponseContentType: (row) => row.response_content_type,
  RequestBytes: (row) => row.request_bytes,
  ResponseBytes: (row) => row.response_bytes,
  UserAgent: (row) => row.user_agent ?? "",
  DLPAction: (row) => row.dlp_action ?? "",
  GuardrailAction: (row) => row.guardrail_action ?? "",
  GuardrailFindings: (row) => row.guardrail_findings ?? "",
};

/** Times are known in milliseconds only. */
const TIMES: Readonly<Record<TimestampFormat, (ms: number) => string>> = {
  unixnano: (ms) => `${ms}000000`,
  unix: (ms) => String(Math.floor(ms / 1000)),
  rfc3339: (ms) => `"${new Date(ms).toISOString().slice(0, 19)}Z"`,
  rfc3339ms: (ms) => `"${new Date(ms).toISOString()}"`,
  rfc3339ns: (ms) => `"${new Date(ms).toISOString().slice(0, 23)}000000Z"`,
};

/** A log as a line of JSON. `encryption` uses the gateway's public key; undefined if it has none. */
export type WriteRecord = (log: TailedLog, encryption: LogEncryption | undefined) => string;

export function createRecordWriter(options: LogOutput | null): WriteRecord {
  const fields = options?.field_names ?? (Object.keys(LOG_FIELDS) as LogField[]);
  const time = TIMES[options?.timestamp_format ?? "unixnano"];
  const isDefused = options?.["CVE-2021-44228"] === true;
  const hasBodies = fields.includes("RequestBody") || fields.includes("ResponseBody");

  const line = (row: GatewayLogRow, parts: Parts): string => {
    const members = fields.map((field) => {
      const value =
        field === "Timestamp" ? time(row.at_ms) : JSON.stringify(field in parts ? parts[field] : PLAIN[field as PlainField](row));
      return `"${field}":${value}`;
    });
    return `{${members.join(",")}}\n`;
  };

  return (log, encryption) => {
    const { row } = log;
    const encrypt = encryption?.();
    const isFit = hasBodies && log.bodyBytes <= RECORD_BYTES_MAX * 2;
    const bodies = isFit ? log.bodies() : null;
    const body = (bytes: Buffer | undefined): unknown => {
      if (bytes === undefined || bytes.length > RECORD_BYTES_MAX) return null;
      return encrypt === undefined ? textOf(bytes) : encrypt(bytes);
    };
    const Metadata = encrypt === undefined ? metadataOf(row) : encrypt(row.metadata || "{}");
    const parts = { Metadata, RequestBody: body(bodies?.request), ResponseBody: body(bodies?.response) };
    const [longer, other] =
      (bodies?.request.length ?? 0) > (bodies?.response.length ?? 0)
        ? (["RequestBody", "ResponseBody"] as const)
        : (["ResponseBody", "RequestBody"] as const);
    let text = line(row, parts);
    for (const field of [longer, other]) {
      if (Buffer.byteLength(text) <= RECORD_BYTES_MAX) break;
      parts[field] = null;
      text = line(row, parts);
    }
    return isDefused ? text.replaceAll("${", "x{") : text;
  };
}

/** Returns text if masking made the JSON invalid. */
function metadataOf({ metadata = "" }: GatewayLogRow): unknown {
  try {
    return JSON.parse(metadata || "{}");
  } catch {
    return metadata;
  }
}

/** Bodies that are not text, such as audio, are encoded as base64. */
const textOf = (bytes: Buffer): unknown => (isUtf8(bytes) ? bytes.toString() : { type: "base64", data: bytes.toString("base64") });
