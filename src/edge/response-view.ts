import { rememberLast } from "#rules/expression/memo.ts";
import type { HeaderFields, ResponseView } from "#rules/views.ts";
import type { Head } from "#wire/http/head.ts";
import type { EdgeError } from "./edge-errors.ts";
import type { Page } from "./error-page.ts";
import type { Exchange } from "./exchange.ts";
import { editedLines, listLines, parseLines } from "./field-lines.ts";
import { addedFields } from "./response-edits.ts";

/** What rules see of a response. Made only where a rule of a response phase may look. */
export const responseView = (exchange: Exchange, buffer: Buffer, head: Head): OwnView =>
  new OwnView(
    exchange,
    head.status,
    buffer.toString("latin1", head.fieldsStart, head.end - 4),
    head.value(buffer, head.contentTypeIndex),
    undefined,
    undefined,
  );

/** The same of a page of the edge's own. */
export const pageView = (exchange: Exchange, { status, contentType, error }: Page): OwnView =>
  new OwnView(
    exchange,
    status,
    `Content-Type: ${contentType}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff`,
    contentType,
    error,
    undefined,
  );

/** A response as the rules before have left it; those behind see the fields as they were by their raw names. */
export function editedView(exchange: Exchange, response: OwnView): OwnView {
  const { responseEdits: edits } = exchange;
  if (edits === null) return response;
  const lines = editedLines(response.lines, { drop: edits.drop, add: addedFields(edits) });
  return new OwnView(exchange, response.status, lines, null, response.error, response);
}

const NONE: readonly string[] = [];
/** Many rules ask the same of one message in a row. */
const fieldsOf = rememberLast(listLines);

/** A view that can be edited. A class, because each response that rules look at makes one. */
export class OwnView implements ResponseView {
  readonly status: number;
  readonly lines: string;
  readonly error: EdgeError | undefined;
  readonly raw: OwnView | undefined;
  private readonly exchange: Exchange;
  /** With its parameters; null where it has to be looked for. */
  private readonly contentType: string | null;
  private fields: ReadonlyMap<string, readonly string[]> | null = null;

  constructor(
    exchange: Exchange,
    status: number,
    lines: string,
    contentType: string | null,
    error: EdgeError | undefined,
    raw: OwnView | undefined,
  ) {
    this.exchange = exchange;
    this.status = status;
    this.lines = lines;
    this.contentType = contentType;
    this.error = error;
    this.raw = raw;
  }

  get content_type(): string {
    const type = this.contentType ?? this.headers("content-type")[0] ?? "";
    const semicolon = type.indexOf(";");
    return (semicolon < 0 ? type : type.slice(0, semicolon)).trim().toLowerCase();
  }

  headers(name: string): readonly string[] {
    return (this.fields ??= parseLines(this.lines)).get(name) ?? NONE;
  }

  header_fields(): HeaderFields {
    return fieldsOf(this.lines);
  }

  get error_code(): number {
    return this.error !== undefined && this.error.code >= 1000 ? this.error.code : 0;
  }

  get error_type(): string {
    return this.error === undefined ? "" : errorType(this.error);
  }

  get origin_ttfb_ms(): number | undefined {
    return this.exchange.originTtfbMs;
  }

  get edge_ms(): number | undefined {
    return this.exchange.edgeMs();
  }
}

const TYPES: Readonly<Record<number, string>> = { 1015: "ratelimit", 1020: "waf", 1040: "managed_challenge" };

/** Who made an error page, in the field's words. */
const errorType = ({ code, status }: EdgeError): string => TYPES[code] ?? (code >= 1000 ? "1xxx" : status >= 500 ? "5xx" : "");
