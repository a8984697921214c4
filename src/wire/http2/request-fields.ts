import type { Field, FieldSink } from "./hpack/field.ts";

/** Kinds of fields: what a reader of requests does with one. */
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

/** What a field is by its name alone. */
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
  // Fields that speak of the connection have no place here (RFC 9113 §8.2.2).
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings"].map((name): [string, number] => [
    name,
    MALFORMED,
  ]),
]);

/** What HTTP/1.1 would read as something else must never get into its text (RFC 9113 §8.2.1, §10.3). */
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

/** The fields of one request, as lines of HTTP/1.1 and what stands in its first one. One serves every connection of a thread. */
export class RequestFields implements FieldSink {
  /** RFC 9113 §8.1.1. */
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

  /** For the next request, of which no more than this is kept; the bytes as RFC 9113 §6.5.2 counts. */
  begin(bytesMax: number, fieldsMax: number): void {
    this.isMalformed = this.isTooLarge = this.hasLength = this.hasRegular = false;
    this.method = this.path = this.scheme = this.authority = this.protocol = this.cookie = this.lines = "";
    this.host = null;
    this.bytesLeft = bytesMax;
    this.fieldsLeft = fieldsMax;
  }

  /** All of them have come. */
  end(): void {
    if (!this.isAddressed && !this.isTooLarge) this.isMalformed = true;
  }

  onField(field: Field): void {
    if ((this.bytesLeft -= field.bytes) < 0 || --this.fieldsLeft < 0) {
      this.isTooLarge = true;
      return;
    }
    const { kind } = field;
    // Entries of a table are looked at once.
    if (kind === 0) field.kind = kindOf(field);
    if (!this.take(field)) this.isMalformed = true;
  }

  /** False where the field makes the request malformed. */
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
      case TRAILERS_WANTED:
        return true;
      case WEBSOCKET_KEY:
        // Ours is the one that the server proves to have read.
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

  /** Each stands once, and none is empty. */
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

  /** What every request says of where it goes (RFC 9113 §8.3.1, §8.5). */
  private get isAddressed(): boolean {
    const isTunnel = this.method === "CONNECT" && this.protocol === "";
    return this.method !== "" && (isTunnel || (this.path !== "" && this.scheme !== ""));
  }
}

/** The fields after a body. Which of them may stand there is not for HTTP/2 to say. */
export class TrailerFields implements FieldSink {
  isMalformed = false;
  /** Names and values in turn. */
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

/** For blocks that only keep the table what the other side believes it to be. */
export const UNWANTED_FIELDS: FieldSink = { onField: () => undefined };
