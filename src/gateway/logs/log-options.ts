import type { IncomingHttpHeaders } from "node:http";
import type { GatewayEntry } from "#snapshot/entries.ts";
import type { TraceParent } from "#gateway/tracing/span.ts";
import { isTraceId } from "#gateway/http/identifiers.ts";

/** The options that a request sets for its own log row. */
export interface LogOptions {
  /** Whether the request gets a log row. */
  readonly collect: boolean;
  /** Whether the row contains the bodies. */
  readonly collectPayload: boolean;
  /** JSON of an object with five entries at most; empty without metadata. */
  readonly metadata: string;
  /** Whether the request is exported to the gateway's OpenTelemetry endpoints: always, unless the request itself turns its log off. */
  readonly isExported: boolean;
  readonly trace: TraceParent;
}

const METADATA_ENTRIES_MAX = 5;

/**
 * Reads `{prefix}-aig-collect-log`, `-collect-log-payload`, `-metadata`, `-otel-trace-id` and `-otel-parent-span-id`,
 * also under the published prefix.
 */
export function createLogOptions(vendorPrefix: string): (headers: IncomingHttpHeaders, gateway: GatewayEntry) => LogOptions {
  const prefixes = [...new Set([vendorPrefix, "cf"])];
  const read = (field: string) => {
    const names = prefixes.map((prefix) => `${prefix}-aig-${field}`);
    return (headers: IncomingHttpHeaders): string | undefined => {
      for (const name of names) if (typeof headers[name] === "string") return headers[name];
      return undefined;
    };
  };
  const [collectLog, collectPayload, metadata] = [read("collect-log"), read("collect-log-payload"), read("metadata")];
  const [traceId, parentSpanId] = [read("otel-trace-id"), read("otel-parent-span-id")];
  return (headers, gateway) => {
    const collected = booleanOf(collectLog(headers));
    const isExported = gateway.otel !== undefined && collected !== false;
    return {
      collect: collected ?? gateway.collect_logs,
      collectPayload: booleanOf(collectPayload(headers)) ?? true,
      metadata: metadataOf(metadata(headers)),
      isExported,
      trace: isExported ? { traceId: identifier(traceId(headers), 32), parentSpanId: identifier(parentSpanId(headers), 16) } : NO_TRACE,
    };
  };
}

const NO_TRACE: TraceParent = { traceId: undefined, parentSpanId: undefined };

/** In lower case, as in W3C Trace Context; undefined without a valid identifier. */
const identifier = (text: string | undefined, digits: number): string | undefined =>
  text !== undefined && isTraceId(text, digits) ? text.toLowerCase() : undefined;

/** Reads the metadata alone, as in the row. */
export function createMetadataReader(vendorPrefix: string): (headers: IncomingHttpHeaders) => string {
  const [own, published] = [`${vendorPrefix}-aig-metadata`, "cf-aig-metadata"];
  return (headers) => {
    const text = headers[own] ?? headers[published];
    return metadataOf(typeof text === "string" ? text : undefined);
  };
}

const booleanOf = (text: string | undefined): boolean | undefined =>
  text === undefined ? undefined : ({ true: true, false: false } as Readonly<Record<string, boolean>>)[text.trim().toLowerCase()];

/** The first entries are kept; if one value is not a string, number or boolean, the whole metadata is dropped (reference, part A). */
export function metadataOf(text: string | undefined): string {
  if (text === undefined || text === "") return "";
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
    const entries = Object.entries(value);
    if (!entries.every(([, entry]) => ["string", "number", "boolean"].includes(typeof entry))) return "";
    return entries.length === 0 ? "" : JSON.stringify(Object.fromEntries(entries.slice(0, METADATA_ENTRIES_MAX)));
  } catch {
    return "";
  }
}
