import type { IncomingMessage, ServerResponse } from "node:http";
import { STATUS_CODES } from "#kernel/net/node-http.ts";
import type { Socket } from "node:net";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { failureEnvelope } from "../envelope.ts";

/** Errors by the HTTP parser's code, if the request is more than just malformed. */
const BY_PARSER_CODE: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: "header_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** Delay after our end, so that an answer arrives before the connection is reset because of unread bytes. */
const LINGER_MS = 2_000;

/** Requests that are complete and wait for their answer, by connection. */
const waiting = new WeakMap<Socket, Set<ServerResponse>>();
/** Connections with invalid input: no further request is accepted there. */
const broken = new WeakSet<Socket>();

/** Must be called for each request, before the input after it is known to be invalid. */
export function watchAnswer(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  const answers = waiting.get(socket) ?? new Set();
  waiting.set(socket, answers.add(response));
  response.once("close", () => {
    answers.delete(response);
    if (broken.has(socket) && answers.size === 0) close(socket);
  });
  // The next request of a connection on which no further one is accepted. Node's parser drops the bytes after a request
  // for another protocol, so a client would take the response to a later request for the response to these bytes.
  if (broken.has(socket) || request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
}

function close(socket: Socket): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Answers bytes that are not a request with the envelope, so that clients can read the reason, and ends the connection.
 * Complete requests before them are answered separately: they were executed, however a client pads its requests.
 */
export function answerBrokenRequest(error: Error, socket: Socket): void {
  if ("code" in error && error.code === "ECONNRESET") return;
  if (broken.has(socket)) return;
  broken.add(socket);
  const complete = Array.from(waiting.get(socket) ?? []).filter(({ req }) => req.complete);
  const last = complete.at(-1);
  if (last !== undefined) {
    last.shouldKeepAlive = false;
    return;
  }
  if (!socket.writable) return void socket.destroy();
  const isAnswering = Array.from(waiting.get(socket) ?? []).some(({ headersSent }) => headersSent);
  // Its request has already been answered, and these bytes followed it.
  if (isAnswering || (socket.bytesWritten > 0 && isPadding(error as ParserError))) return close(socket);
  const problem = new PlatformError(("code" in error ? BY_PARSER_CODE[String(error.code)] : undefined) ?? "malformed_http");
  const body = failureEnvelope([problem.toItem()]);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ""}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** The HTTP parser's error for the bytes that it read. */
interface ParserError {
  readonly code?: string;
  readonly rawPacket?: Uint8Array;
  readonly bytesParsed?: number;
}

const LETTER = /[A-Za-z]/;

/** Bytes after a complete request that do not begin another one: some clients pad their requests. */
function isPadding({ code, rawPacket, bytesParsed = 0 }: ParserError): boolean {
  if (code === "HPE_CLOSED_CONNECTION") return true;
  return code === "HPE_INVALID_METHOD" && !LETTER.test(String.fromCharCode(rawPacket?.[bytesParsed] ?? 0));
}

/** RFC 9110 §10.1.1: an unknown expectation. Node would answer without the envelope. */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const problem = new PlatformError("malformed_http", { status: 417, message: "Only Expect: 100-continue is supported." });
  response.writeHead(problem.status, { "content-type": "application/json", connection: "close" });
  response.end(failureEnvelope([problem.toItem()]));
}
