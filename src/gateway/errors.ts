import type { ServerResponse } from "node:http";
import { ERROR_CODES, type ErrorName } from "#kernel/error-codes.ts";

/** The errors that the gateway itself answers with; providers' errors pass through as they are. */
export type GatewayErrorName = Extract<ErrorName, `aig_${string}`>;

/** The gateway's error body: `error` is singular, unlike the management envelope's (reference, part A). */
export function renderError(name: GatewayErrorName): { readonly status: number; readonly body: string } {
  const { code, status, message } = ERROR_CODES[name];
  const body = {
    success: false,
    result: [],
    messages: [],
    error: [{ code, message }],
    name: "AiGatewayError",
    httpCode: status,
    internalCode: code,
  };
  return { status, body: JSON.stringify(body) };
}

/** Answers with an error; `headers` is a flat list of names and values. Gives the status. */
export function sendError(res: ServerResponse, name: GatewayErrorName, headers: readonly string[], close: boolean): number {
  const { status, body } = renderError(name);
  const all = [...headers, "content-type", "application/json", "content-length", String(Buffer.byteLength(body))];
  if (name === "aig_overloaded") all.push("retry-after", "1");
  if (close) all.push("connection", "close");
  res.writeHead(status, all);
  res.end(body);
  return status;
}

/** The same for a connection whose bytes are no request: there is no response object yet. */
export function rawError(name: GatewayErrorName, reason = "Bad Request"): string {
  const { status, body } = renderError(name);
  return `HTTP/1.1 ${status} ${reason}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
}
