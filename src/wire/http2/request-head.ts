import { randomBytes } from "node:crypto";
import type { Trailer } from "#wire/http/chunked.ts";
import { HEAD_BYTES_MAX, parseFields, parseRequestHead } from "#wire/http/head.ts";
import { Head } from "#wire/http/parsed-head.ts";
import { TRAILER_FIELDS } from "#wire/http/known-fields.ts";
import type { RequestFields } from "./request-fields.ts";

/** The head of a request in the form that all planes read. Valid until the next one is read. */
export interface RequestHead {
  readonly buffer: Buffer;
  readonly head: Head;
  /** The key that a WebSocket server must answer to; empty for every other request. */
  webSocketKey: string;
}

/** Shared by all connections of a thread: a head is consumed before the next is written. */
const SHARED: RequestHead = { buffer: Buffer.allocUnsafeSlow(HEAD_BYTES_MAX), head: new Head(), webSocketKey: "" };

const BAD_REQUEST = 400;
const HEAD_TOO_LARGE = 431;
const NOT_IMPLEMENTED = 501;

const WORD = /^[\x21-\x7e]+$/;
/** As in HTTP/1.1, bytes beyond ASCII become escapes later. */
const TARGET_WORD = /^[\x21-\x7e\x80-\xff]+$/;

/** As in the chunked coding, which passes them on. */
const TRAILER_BYTES_MAX = 8192;

/**
 * Writes the fields of an HTTP/2 request as a head of HTTP/1.1 and parses that as strictly as any other. A CONNECT for a
 * WebSocket (RFC 8441) becomes the GET with an upgrade that it stands for. `scheme`: the scheme of the connection, null
 * for any. Returns a status to refuse the request with if another server could read it differently.
 */
export function readRequestHead(request: RequestFields, scheme: string | null, endsWithHead: boolean): RequestHead | number {
  if (request.isTooLarge) return HEAD_TOO_LARGE;
  if (request.isMalformed) return BAD_REQUEST;
  const { path, host, protocol } = request;
  const isWebSocket = protocol === WEBSOCKET && request.method === "CONNECT";
  if (isWebSocket ? endsWithHead || request.hasLength : protocol !== "" && request.method !== "CONNECT") return BAD_REQUEST;
  if (request.method === "CONNECT" && !isWebSocket) return NOT_IMPLEMENTED;
  const method = isWebSocket ? "GET" : request.method;
  const authority = request.authority === "" ? (host ?? "") : request.authority;
  // Two servers in a row must never pick different hosts.
  if (host !== null && host.toLowerCase() !== authority.toLowerCase()) return BAD_REQUEST;
  if (scheme !== null && request.scheme !== scheme) return BAD_REQUEST;
  if (!WORD.test(method) || !TARGET_WORD.test(path) || !WORD.test(authority)) return BAD_REQUEST;
  // An absolute target could name another host than the authority.
  if (!path.startsWith("/") && path !== "*") return BAD_REQUEST;
  const cookie = request.cookie === "" ? "" : `cookie: ${request.cookie}\r\n`;
  const webSocketKey = isWebSocket ? randomBytes(16).toString("base64") : "";
  const framing = isWebSocket ? upgradeLines(webSocketKey) : endsWithHead || request.hasLength ? "" : "transfer-encoding: chunked\r\n";
  SHARED.webSocketKey = webSocketKey;
  return parse(`${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\n${request.lines}${cookie}${framing}\r\n`, endsWithHead);
}

const WEBSOCKET = "websocket";
/** The fields of an upgrade to WebSocket (RFC 6455 §4.1); over HTTP/2 the client sends none of them (RFC 8441 §5). */
const upgradeLines = (key: string): string => `connection: Upgrade\r\nupgrade: ${WEBSOCKET}\r\nsec-websocket-key: ${key}\r\n`;

/**
 * The fields after a body, or null if one of them is not allowed there (RFC 9110 §6.5.1). `fields`: names and values
 * alternate.
 */
export function readTrailers(fields: readonly string[]): readonly Trailer[] | null {
  let text = "";
  const trailers: Trailer[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    text += `${name}: ${value}\r\n`;
    trailers.push({ name, value });
  }
  const { buffer, head } = SHARED;
  if (text.length > TRAILER_BYTES_MAX) return null;
  buffer.write(`${text}\r\n`, "latin1");
  head.reset();
  return parseFields(buffer, 0, text.length + 2, head, TRAILER_FIELDS) === 0 ? trailers : null;
}

function parse(text: string, endsWithHead: boolean): RequestHead | number {
  const { buffer, head } = SHARED;
  if (text.length > HEAD_BYTES_MAX) return HEAD_TOO_LARGE;
  buffer.write(text, "latin1");
  const fault = parseRequestHead(buffer, 0, text.length, head);
  if (fault !== 0) return fault;
  // A length without a body. The end of a body finds one that is too short or too long.
  return endsWithHead && head.contentLength > 0 ? BAD_REQUEST : SHARED;
}
