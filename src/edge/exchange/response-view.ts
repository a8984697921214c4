import { latin1 } from "#wire/http/bytes.ts";
import { createStringInterner } from "#wire/http/string-interner.ts";
import { rememberLast } from "#rules/text/memo.ts";
import type { HeaderFields, ResponseView } from "#rules/views.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { EdgeError } from "#edge/pages/edge-errors.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "./exchange.ts";
import type { HeldResponse } from "./held-response.ts";
import { editedLines, listLines, parseLines } from "#edge/http/field-lines.ts";
import { charsetOf, wholeMediaType } from "#edge/http/media-type.ts";
import { type ResponseEdits, editedValues, touches } from "#edge/http/header-edits.ts";

const NONE: readonly string[] = [];
/** Length of the CRLF of the last line and of the empty line. */
const END_BYTES = 4;

/**
 * The view that rules have of a response head; valid while the bytes of the head are. Created only if a response rule
 * may read it.
 */
export const responseView = (exchange: Exchange, buffer: Buffer, head: Head): OwnView =>
  new OwnView(exchange, head.status, new ReceivedHead(buffer, head), undefined, undefined);

/** The same with the start of the body. */
export const heldView = (exchange: Exchange, held: HeldResponse): OwnView =>
  new OwnView(exchange, held.head.status, new ReceivedHead(held.buffer, held.head), undefined, undefined, held.text());

/** The same for a page of the edge. */
export const pageView = (exchange: Exchange, { status, contentType, error }: Page): OwnView =>
  new OwnView(
    exchange,
    status,
    {
      lines: `Content-Type: ${contentType}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff`,
      contentType,
      contentEncodings: NONE,
    },
    error,
    undefined,
  );

/** The response with the edits of earlier phases. Raw field names show the original values. */
export function editedView(exchange: Exchange, response: OwnView): OwnView {
  const { responseEdits: edits } = exchange;
  if (edits === null) return response;
  return new OwnView(exchange, response.status, new EditedHead(response, edits), response.error, response);
}

/** The fields of a head, converted to text only when a rule reads them; most rules do not. */
interface ViewedHead {
  readonly lines: string;
  /** Content-Type with its parameters. */
  readonly contentType: string;
  /** Values of Content-Encoding, as sent. */
  readonly contentEncodings: readonly string[];
}

const recentType = createStringInterner();

/** Content-Type with its parameters; empty without one. */
export const contentTypeOf = (buffer: Buffer, { contentTypeIndex: index, offsets }: Head): string =>
  index < 0 ? "" : recentType(buffer, offsets[index * 4 + 2]!, offsets[index * 4 + 3]!);

/** Copies the offsets, because rules read the head after the `Head` object has been reused for another one. */
class ReceivedHead implements ViewedHead {
  private readonly buffer: Buffer;
  private readonly start: number;
  private readonly end: number;
  readonly contentType: string;
  readonly contentEncodings: readonly string[];
  private text: string | null = null;

  constructor(buffer: Buffer, head: Head) {
    const { fieldsStart, end } = head;
    this.buffer = buffer;
    // Read now, while the bytes are in the CPU cache.
    this.contentType = contentTypeOf(buffer, head);
    // Searching the names now costs less than decoding all lines later.
    this.contentEncodings = editedValues(buffer, head, null, "content-encoding");
    this.start = fieldsStart;
    this.end = end - END_BYTES;
  }

  get lines(): string {
    return (this.text ??= latin1(this.buffer, this.start, this.end));
  }
}

/** Several rules in a row often read the fields of the same message. */
const fieldsOf = rememberLast(listLines);

/** A head with edits applied. Its text is built once, between the phase that edits and the next one. */
class EditedHead implements ViewedHead {
  private readonly before: OwnView;
  private readonly edits: ResponseEdits;
  private text: string | null = null;

  constructor(before: OwnView, edits: ResponseEdits) {
    this.before = before;
    this.edits = edits;
  }

  get lines(): string {
    return (this.text ??= editedLines(this.before.lines, this.edits));
  }

  get contentType(): string {
    if (!touches(this.edits, "content-type")) return this.before.contentType;
    return parseLines(this.lines).get("content-type")?.[0] ?? "";
  }

  get contentEncodings(): readonly string[] {
    return parseLines(this.lines).get("content-encoding") ?? NONE;
  }
}

/** A response view with edits. A class, because the edge creates one for each response that rules read. */
export class OwnView implements ResponseView {
  readonly status: number;
  readonly error: EdgeError | undefined;
  readonly raw: OwnView | undefined;
  readonly body: string | undefined;
  private readonly exchange: Exchange;
  private readonly head: ViewedHead;
  private fields: ReadonlyMap<string, readonly string[]> | null = null;

  constructor(exchange: Exchange, status: number, head: ViewedHead, error: EdgeError | undefined, raw: OwnView | undefined, body?: string) {
    this.exchange = exchange;
    this.status = status;
    this.head = head;
    this.error = error;
    this.raw = raw;
    this.body = body;
  }

  get lines(): string {
    return this.head.lines;
  }

  get contentType(): string {
    return this.head.contentType;
  }

  get content_type(): string {
    return wholeMediaType(this.contentType);
  }

  /** Charset of the Content-Type in lower case; empty without one. */
  get charset(): string {
    return charsetOf(this.contentType);
  }

  /** Lower case; empty without one. */
  get content_encoding(): string {
    const values = this.head.contentEncodings;
    return values.length === 0 ? "" : values.join(", ").toLowerCase();
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

/** The kind of an edge error page, with the usual names of CDNs. */
const errorType = ({ code, status }: EdgeError): string => TYPES[code] ?? (code >= 1000 ? "1xxx" : status >= 500 ? "5xx" : "");
