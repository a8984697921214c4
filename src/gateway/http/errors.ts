import { ERROR_CODES, type ErrorName } from "#kernel/errors/error-codes.ts";
import { STATUS_CODES } from "#kernel/net/node-http.ts";

/** The errors that the gateway itself answers with; providers' errors pass through as they are. */
export type GatewayErrorName = Extract<ErrorName, `aig_${string}`>;

/** Why a request or an answer goes no further. */
export interface Refusal {
  readonly name: GatewayErrorName;
  /** In place of the table's. */
  readonly message?: string;
  /** Further fields of the answer, names and values by turns. */
  readonly headers?: readonly string[];
}

/** Thrown by what looks at an answer or a request and does not let it pass. */
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

/** The same for a connection without a response object: its bytes are no request, or it is to become a WebSocket. */
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
