import type { Field, FieldSink } from "./hpack/field.ts";

/** Kinds of fields, by how a request uses them. */
const MALFORMED = 1;
const REGULAR = 2;
const METHOD = 3;
const PATH = 4;
const SCHEME = 5;
const AUTHORITY = 6;
const PROTOCOL = 7;
const HOST = 8;
const COOKIE = 9;
const TRAILERS_WANTED = 10;
const LENGTH = 11;
const WEBSOCKET_KEY = 12;

/** The kind of a field, by its name alone. */
const KINDS = new Map<string, number>([
  [":method", METHOD],
  [":path", PATH],
  [":scheme", SCHEME],
  [":authority", AUTHORITY],
  [":protocol", PROTOCOL],
  ["host", HOST],
  ["cookie", COOKIE],
  ["te", TRAILERS_WANTED],
  ["content-length", LENGTH],
  ["sec-websocket-key", WEBSOCKET_KEY],
  // Fields of the connection are forbidden here (RFC 9113 §8.2.2).
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings"].map((name): [string, number] => [
    name,
    MALFORMED,
  ]),
]);

/** Anything that HTTP/1.1 would parse differently must never reach its text (RFC 9113 §8.2.1, §10.3). */
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
// linear: pumped
const VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

function kindOf({ name, value }: Field): number {
  if (!VALUE.test(value)) return MALFORMED;
  const kind = KINDS.get(name);
  if (kind === TRAILERS_WANTED) return value === "trailers" ? kind : MALFORMED;
  if (kind !== undefined) return kind;
  return NAME.test(name) ? REGULAR : MALFORMED;
}

/**
 * The fields of one request: the parts of its request line, and the others as lines of HTTP/1.1. One instance serves
 * every connection of a thread.
 */
export class RequestFields implements FieldSink {
  /** The request is malformed (RFC 9113 §8.1.1). */
  isMalformed = false;
  isTooLarge = false;
  method = "";
  path = "";
  scheme = "";
  authority = "";
  protocol = "";
  host: string | null = null;
  cookie = "";
  hasLength = false;
  /** `name: value` and CRLF, for all other fields. */
  lines = "";
  private hasRegular = false;
  private bytesLeft = 0;
  private fieldsLeft = 0;

  /** Begins the next request. Keeps at most this much of it; bytes are counted as in RFC 9113 §6.5.2. */
  begin(bytesMax: number, fieldsMax: number): void {
    this.isMalformed = this.isTooLarge = this.hasLength = this.hasRegular = false;
    this.method = this.path = this.scheme = this.authority = this.protocol = this.cookie = this.lines = "";
    this.host = null;
    this.bytesLeft = bytesMax;
    this.fieldsLeft = fieldsMax;
  }

  /** All fields have come. */
  end(): void {
    if (!this.isAddressed && !this.isTooLarge) this.isMalformed = true;
  }

  onField(field: Field): void {
    if ((this.bytesLeft -= field.bytes) < 0 || --this.fieldsLeft < 0) {
      this.isTooLarge = true;
      return;
    }
    const { kind } = field;
    // Entries of a table are examined once.
    if (kind === 0) field.kind = kindOf(field);
    if (!this.take(field)) this.isMalformed = true;
  }

  /** Returns false if the field makes the request malformed. */
  private take(field: Field): boolean {
    const { kind, value } = field;
    if (kind >= METHOD && kind <= PROTOCOL) return !this.hasRegular && this.takePseudo(kind, value);
    this.hasRegular = true;
    switch (kind) {
      case MALFORMED:
        return false;
      case HOST:
        if (this.host !== null) return false;
        this.host = value;
        return true;
      case COOKIE:
        // RFC 9113 §8.2.3: pieces of one field.
        if (value !== "") this.cookie += this.cookie === "" ? value : `; ${value}`;
        return true;
      case WEBSOCKET_KEY:
        // The server answers to the key that we generate, not to this one.
        if (this.protocol !== "") return true;
        break;
      case LENGTH:
        this.hasLength = true;
        break;
    }
    if (field.line === "") field.line = `${field.name}: ${value}\r\n`;
    this.lines += field.line;
    return true;
  }

  /** Each pseudo-header may occur once, and must not be empty. */
  private takePseudo(kind: number, value: string): boolean {
    let before: string;
    switch (kind) {
      case METHOD:
        before = this.method;
        this.method = value;
        break;
      case PATH:
        before = this.path;
        this.path = value;
        break;
      case SCHEME:
        before = this.scheme;
        this.scheme = value;
        break;
      case AUTHORITY:
        before = this.authority;
        this.authority = value;
        break;
      default:
        before = this.protocol;
        this.protocol = value;
    }
    return before === "" && value !== "";
  }

  /** The pseudo-headers that every request needs (RFC 9113 §8.3.1, §8.5). */
  private get isAddressed(): boolean {
    const isTunnel = this.method === "CONNECT" && this.protocol === "";
    return this.method !== "" && (isTunnel || (this.path !== "" && this.scheme !== ""));
  }
}

/** The fields after a body. HTTP/2 does not decide which names are allowed there. */
export class TrailerFields implements FieldSink {
  isMalformed = false;
  /** Names and values alternate. */
  fields: string[] = [];
  private bytesLeft = 0;

  begin(bytesMax: number): void {
    this.isMalformed = false;
    this.fields = [];
    this.bytesLeft = bytesMax;
  }

  onField({ name, value, bytes }: Field): void {
    if ((this.bytesLeft -= bytes) < 0 || !NAME.test(name) || !VALUE.test(value)) this.isMalformed = true;
    else this.fields.push(name, value);
  }
}

/** Decodes a block only to keep our table the same as the other side's. */
export const UNWANTED_FIELDS: FieldSink = { onField: () => undefined };
