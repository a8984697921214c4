import { ProtobufWriter } from "./protobuf-writer.ts";
import type { AttributeValue, Span } from "./span.ts";

/** An ExportTraceServiceRequest (OpenTelemetry protocol 1.x, over HTTP). */
export interface Encoded {
  readonly contentType: string;
  readonly body: Buffer;
}

const SERVICE = "selvedge-gateway";
const SPAN_KIND_CLIENT = 3;
const STATUS_ERROR = 2;
const NANOSECONDS = 1_000_000n;
const nanoseconds = (ms: number): bigint => BigInt(Math.round(ms)) * NANOSECONDS;

export const encodeSpans = (form: "json" | "protobuf", spans: readonly Span[]): Encoded =>
  form === "json"
    ? { contentType: "application/json", body: Buffer.from(JSON.stringify(jsonOf(spans))) }
    : { contentType: "application/x-protobuf", body: protobufOf(spans) };

/** Identifiers are hexadecimal in OTLP's JSON, and 64-bit numbers are decimal strings. */
const jsonOf = (spans: readonly Span[]): object => ({
  resourceSpans: [
    {
      resource: { attributes: [{ key: "service.name", value: { stringValue: SERVICE } }] },
      scopeSpans: [{ scope: { name: SERVICE }, spans: spans.map(spanJson) }],
    },
  ],
});

const spanJson = (span: Span): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId === "" ? {} : { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: SPAN_KIND_CLIENT,
  startTimeUnixNano: String(nanoseconds(span.startMs)),
  endTimeUnixNano: String(nanoseconds(span.endMs)),
  attributes: span.attributes.map(([key, value]) => ({ key, value: valueJson(value) })),
  status: span.failure === "" ? {} : { code: STATUS_ERROR, message: span.failure },
});

function valueJson(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Field numbers of opentelemetry/proto/trace/v1/trace.proto and common.proto. */
function protobufOf(spans: readonly Span[]): Buffer {
  const scope = new ProtobufWriter().text(1, SERVICE);
  const scopeSpans = new ProtobufWriter().message(1, scope);
  for (const span of spans) scopeSpans.message(2, spanProtobuf(span));
  const resource = new ProtobufWriter().message(1, attributeProtobuf("service.name", SERVICE));
  const resourceSpans = new ProtobufWriter().message(1, resource).message(2, scopeSpans);
  return new ProtobufWriter().message(1, resourceSpans).bytes();
}

function spanProtobuf(span: Span): ProtobufWriter {
  const message = new ProtobufWriter().data(1, Buffer.from(span.traceId, "hex")).data(2, Buffer.from(span.spanId, "hex"));
  if (span.parentSpanId !== "") message.data(4, Buffer.from(span.parentSpanId, "hex"));
  message.text(5, span.name).varint(6, BigInt(SPAN_KIND_CLIENT));
  message.fixed64(7, nanoseconds(span.startMs)).fixed64(8, nanoseconds(span.endMs));
  for (const [key, value] of span.attributes) message.message(9, attributeProtobuf(key, value));
  if (span.failure !== "") message.message(15, new ProtobufWriter().text(2, span.failure).varint(3, BigInt(STATUS_ERROR)));
  return message;
}

function attributeProtobuf(key: string, value: AttributeValue): ProtobufWriter {
  const any = new ProtobufWriter();
  if (typeof value === "string") any.text(1, value);
  else if (typeof value === "boolean") any.varint(2, value ? 1n : 0n);
  else if (Number.isSafeInteger(value)) any.varint(3, BigInt(value));
  else any.double(4, value);
  return new ProtobufWriter().text(1, key).message(2, any);
}
