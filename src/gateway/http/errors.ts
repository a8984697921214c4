import { ERROR_CODES, type ErrorName } from "#kernel/errors/error-codes.ts";
import { STATUS_CODES } from "#kernel/net/node-http.ts";

/** Errors that the gateway itself returns; errors of providers pass unchanged. */
export type GatewayErrorName = Extract<ErrorName, `aig_${string}`>;

/** Why the gateway refuses a request or an answer. */
export interface Refusal {
  readonly name: GatewayErrorName;
  /** Replaces the table's message. */
  readonly message?: string;
  /** Further header fields of the answer: names and values alternate. */
  readonly headers?: readonly string[];
}

/** Thrown by checks of a request or an answer that refuse it. */
export class RefusalError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.name);
    this.refusal = refusal;
  }
}

/** The message for clients if an error body does not fit. */
export const refusalMessage = (name: GatewayErrorName): string => ERROR_CODES[name].message;

/** The gateway's error body: `error` is singular, unlike the management envelope's (reference, part A). */
export function renderError(refusal: Refusal): { readonly status: number; readonly body: string } {
  const { code, status, message } = ERROR_CODES[refusal.name];
  const body = {
    success: false,
    result: [],
    messages: [],
    error: [{ code, message: refusal.message ?? message }],
    name: "AiGatewayError",
    httpCode: status,
    internalCode: code,
  };
  return { status, body: JSON.stringify(body) };
}

/** The same for a connection without a response object: its bytes are not a request, or it was to become a WebSocket. */
export function rawError(refusal: Refusal, headers: readonly string[] = []): string {
  const { status, body } = renderError(refusal);
  const all = [
    ...headers,
    ...(refusal.headers ?? []),
    "content-type",
    "application/json",
    "content-length",
    String(Buffer.byteLength(body)),
  ];
  let fields = "";
  for (let i = 0; i < all.length; i += 2) fields += `${all[i]}: ${all[i + 1]}\r\n`;
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${fields}connection: close\r\n\r\n${body}`;
}
