import { rememberLast } from "#rules/expression/memo.ts";
import type { ResponseView } from "#rules/views.ts";
import type { Head } from "#wire/http/head.ts";
import type { EdgeError } from "./edge-errors.ts";
import type { Page } from "./error-page.ts";
import type { Exchange } from "./exchange.ts";
import { editedLines, listLines, parseLines } from "./field-lines.ts";
import { addedFields } from "./response-edits.ts";

/** What rules see of a response. Made only where a rule of a response phase may look. */
export const responseView = (exchange: Exchange, buffer: Buffer, head: Head): OwnView =>
  viewOf(exchange, head.status, buffer.toString("latin1", head.fieldsStart, head.end - 4), {
    contentType: head.value(buffer, head.contentTypeIndex),
  });

/** The same of a page of the edge's own. */
export const pageView = (exchange: Exchange, { status, contentType, error }: Page): OwnView =>
  viewOf(exchange, status, `Content-Type: ${contentType}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff`, {
    contentType,
    error,
  });

/** A response as the rules before have left it; those behind see the fields as they were by their raw names. */
export function editedView(exchange: Exchange, response: OwnView): OwnView {
  const { responseEdits: edits } = exchange;
  if (edits === null) return response;
  const lines = editedLines(response.lines, { drop: edits.drop, add: addedFields(edits) });
  return { ...viewOf(exchange, response.status, lines, { error: response.error }), raw: response };
}

/** A view that can be edited. */
export interface OwnView extends ResponseView {
  readonly lines: string;
  readonly error: EdgeError | undefined;
}

const NONE: readonly string[] = [];
/** Many rules ask the same of one message in a row. */
const fieldsOf = rememberLast(listLines);

interface Known {
  readonly contentType?: string;
  readonly error?: EdgeError | undefined;
}

function viewOf(exchange: Exchange, status: number, lines: string, { contentType, error }: Known): OwnView {
  let fields: ReadonlyMap<string, readonly string[]> | null = null;
  const headers = (name: string): readonly string[] => (fields ??= parseLines(lines)).get(name) ?? NONE;
  return {
    lines,
    error,
    status,
    get content_type() {
      return (contentType ?? headers("content-type")[0] ?? "").split(";", 1)[0]!.trim().toLowerCase();
    },
    headers,
    header_fields: () => fieldsOf(lines),
    error_code: error !== undefined && error.code >= 1000 ? error.code : 0,
    error_type: error === undefined ? "" : errorType(error),
    origin_ttfb_ms: exchange.originTtfbMs,
    get edge_ms() {
      return exchange.edgeMs();
    },
  };
}

const TYPES: Readonly<Record<number, string>> = { 1015: "ratelimit", 1020: "waf", 1040: "managed_challenge" };

/** Who made an error page, in the field's words. */
const errorType = ({ code, status }: EdgeError): string => TYPES[code] ?? (code >= 1000 ? "1xxx" : status >= 500 ? "5xx" : "");
