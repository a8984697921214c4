import { randomBytes } from "node:crypto";
import type { Trailer } from "#wire/http/chunked.ts";
import { Head, HEAD_BYTES_MAX, parseFields, parseRequestHead } from "#wire/http/head.ts";
import { TRAILER_FIELDS } from "#wire/http/known-fields.ts";
import { type EdgeErrorName, errorForStatus } from "./edge-errors.ts";

/** A request's head in the form that the rest of the edge reads. Good until the next one is read. */
export interface RequestHead {
  readonly buffer: Buffer;
  readonly head: Head;
  /** What a WebSocket's server must prove to have read; empty for every other request. */
  webSocketKey: string;
}

/** One for all connections of a thread: a head is consumed before the next is written. */
const SHARED: RequestHead = { buffer: Buffer.allocUnsafeSlow(HEAD_BYTES_MAX), head: new Head(), webSocketKey: "" };

/** What HTTP/1.1 would read as something else must never get into its text (RFC 9113 §10.3). */
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const WORD = /^[\x21-\x7e]+$/;

/** As in the chunked coding, which carries them on. */
const TRAILER_BYTES_MAX = 8192;

/** Fields that speak of the connection have no place here (RFC 9113 §8.2.2). */
const CONNECTION_FIELDS = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings"]);

/**
 * Writes the fields of an HTTP/2 request, names and values in turn, as a head of HTTP/1.1 and parses that as strictly
 * as any other. The CONNECT that asks for a WebSocket (RFC 8441) becomes the GET with an upgrade that it stands for. Returns what the request is refused with where it is malformed (RFC 9113 §8.1.1).
 */
export function readRequestHead(fields: readonly string[], scheme: string, endsWithHead: boolean): RequestHead | EdgeErrorName {
  const request: Fields = {
    ...{ method: "", path: "", authority: "", scheme: "", protocol: "" },
    ...{ host: null, cookie: "", lines: "", hasLength: false },
  };
  for (let i = 0; i + 1 < fields.length; i += 2) if (!takeField(request, fields[i]!, fields[i + 1]!)) return "bad_request";
  const { path, host, protocol } = request;
  const isWebSocket = protocol === WEBSOCKET && request.method === "CONNECT";
  if (isWebSocket ? endsWithHead || request.hasLength : protocol !== "" && request.method !== "CONNECT") return "bad_request";
  if (request.method === "CONNECT" && !isWebSocket) return "not_implemented";
  const method = isWebSocket ? "GET" : request.method;
  const authority = request.authority === "" ? (host ?? "") : request.authority;
  // Two servers in a row must never pick two different hosts.
  if (host !== null && host.toLowerCase() !== authority.toLowerCase()) return "bad_request";
  if (request.scheme !== scheme || !WORD.test(method) || !WORD.test(path) || !WORD.test(authority)) return "bad_request";
  // An absolute target would be read as another host than the authority.
  if (!path.startsWith("/") && path !== "*") return "bad_request";
  const cookie = request.cookie === "" ? "" : `cookie: ${request.cookie}\r\n`;
  const webSocketKey = isWebSocket ? randomBytes(16).toString("base64") : "";
  const framing = isWebSocket ? upgradeLines(webSocketKey) : endsWithHead || request.hasLength ? "" : "transfer-encoding: chunked\r\n";
  SHARED.webSocketKey = webSocketKey;
  return parse(`${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\n${request.lines}${cookie}${framing}\r\n`, endsWithHead);
}

const WEBSOCKET = "websocket";
/** RFC 6455 §4.1; over HTTP/2 the client sends none of these (RFC 8441 §5). */
const upgradeLines = (key: string): string => `connection: Upgrade\r\nupgrade: ${WEBSOCKET}\r\nsec-websocket-key: ${key}\r\n`;

/** The fields after a body, or null where they are malformed or must not come there (RFC 9110 §6.5.1). */
export function readTrailers(fields: readonly string[]): readonly Trailer[] | null {
  let text = "";
  const trailers: Trailer[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    if (!NAME.test(name) || !VALUE.test(value)) return null;
    text += `${name}: ${value}\r\n`;
    trailers.push({ name, value });
  }
  const { buffer, head } = SHARED;
  if (text.length > TRAILER_BYTES_MAX) return null;
  buffer.write(`${text}\r\n`, "latin1");
  head.reset();
  return parseFields(buffer, 0, text.length + 2, head, TRAILER_FIELDS) === 0 ? trailers : null;
}

interface Fields {
  method: string;
  path: string;
  authority: string;
  scheme: string;
  protocol: string;
  host: string | null;
  cookie: string;
  lines: string;
  hasLength: boolean;
}

/** False where the field makes the request malformed. */
function takeField(request: Fields, name: string, value: string): boolean {
  if (!VALUE.test(value)) return false;
  switch (name) {
    case ":method":
      return setOnce(request, "method", value);
    case ":path":
      return setOnce(request, "path", value);
    case ":authority":
      return setOnce(request, "authority", value);
    case ":scheme":
      return setOnce(request, "scheme", value);
    case ":protocol":
      return setOnce(request, "protocol", value);
    case "host":
      if (request.host !== null) return false;
      request.host = value;
      return true;
    case "cookie":
      // RFC 9113 §8.2.3: pieces of one field.
      if (value !== "") request.cookie += request.cookie === "" ? value : `; ${value}`;
      return true;
    case "te":
      return value === "trailers";
    default:
      if (CONNECTION_FIELDS.has(name) || !NAME.test(name)) return false;
      // Ours is the one that the server proves to have read.
      if (name === "sec-websocket-key" && request.protocol !== "") return true;
      if (name === "content-length") request.hasLength = true;
      request.lines += `${name}: ${value}\r\n`;
      return true;
  }
}

function setOnce(request: Fields, key: "method" | "path" | "authority" | "scheme" | "protocol", value: string): boolean {
  if (request[key] !== "") return false;
  request[key] = value;
  return true;
}

function parse(text: string, endsWithHead: boolean): RequestHead | EdgeErrorName {
  const { buffer, head } = SHARED;
  if (text.length > HEAD_BYTES_MAX) return "head_too_large";
  buffer.write(text, "latin1");
  const fault = parseRequestHead(buffer, 0, text.length, head);
  if (fault !== 0) return errorForStatus(fault);
  // A length that no body follows: one that is too short or too long is found when the body ends.
  return endsWithHead && head.contentLength > 0 ? "bad_request" : SHARED;
}
