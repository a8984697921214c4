import type { IncomingMessage, ServerResponse } from "node:http";
import { STATUS_CODES } from "#kernel/node-http.ts";
import type { Socket } from "node:net";
import type { ErrorName } from "#kernel/error-codes.ts";
import { PlatformError } from "#kernel/errors.ts";
import { failureEnvelope } from "./envelope.ts";

/** What the HTTP parser says was wrong, where it is not just malformed. */
const BY_PARSER_CODE: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: "header_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** Answers bytes that never became a request: with the envelope, so that clients can read why, and the connection's end. */
export function answerBrokenRequest(error: Error, socket: Socket): void {
  if ("code" in error && error.code === "ECONNRESET") return;
  if (!socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const problem = new PlatformError(("code" in error ? BY_PARSER_CODE[String(error.code)] : undefined) ?? "malformed_http");
  const body = failureEnvelope([problem.toItem()]);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ""}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** RFC 9110 §10.1.1: an expectation that is not understood. Node would answer without the envelope. */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const problem = new PlatformError("malformed_http", { status: 417, message: "The only expectation that is met is 100-continue." });
  response.writeHead(problem.status, { "content-type": "application/json", connection: "close" });
  response.end(failureEnvelope([problem.toItem()]));
}
