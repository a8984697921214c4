import { note } from "./calls.ts";

/** An error of the API as a form can use it: which field, what to say, where it is explained. */
export interface ApiFault {
  readonly code: number;
  readonly message: string;
  readonly documentation_url?: string;
  readonly source?: { readonly pointer: string };
}

export class ApiError extends Error {
  /** 0: nothing answered. */
  readonly status: number;
  readonly faults: readonly ApiFault[];
  /** Seconds after which the API takes such a request again; 0 if it does not say. */
  readonly waitSeconds: number;
  constructor(status: number, faults: readonly ApiFault[], waitSeconds = 0) {
    super(faults[0]?.message ?? unexplained(status));
    this.status = status;
    this.faults = faults;
    this.waitSeconds = waitSeconds;
  }
  /** Whether the same request may succeed later: nothing about the request itself is wrong. */
  get isPassing(): boolean {
    return this.faults.length === 0 || this.status === 0 || this.status >= 500 || this.status === 429;
  }
  /** Whether the credential lacks a permission. */
  get isForbidden(): boolean {
    return this.faults.some(({ code, message }) => code === FORBIDDEN || message.startsWith("Authentication error: the credential needs"));
  }
  get code(): number {
    return this.faults[0]?.code ?? 0;
  }
  /** `/data/port` → `data.port`; what names no field stays above the form under the empty name. */
  byField(): Readonly<Record<string, ApiFault>> {
    return Object.fromEntries(this.faults.map((fault) => [fault.source?.pointer.slice(1).replaceAll("/", ".") ?? "", fault]));
  }
}

const FORBIDDEN = 10_000;

/** For a response that does not explain itself: no connection, a proxy's error page, half an answer. */
const unexplained = (status: number): string =>
  status === 0
    ? "The server cannot be reached."
    : status < 400
      ? "The answer of the server arrived in part."
      : `The server answered ${status} without an explanation.`;

export interface ResultInfo {
  readonly page?: number;
  readonly per_page?: number;
  readonly total_count?: number;
  readonly cursor?: string;
}

export interface Reply<T> {
  readonly result: T;
  readonly result_info?: ResultInfo;
  readonly messages?: readonly { readonly code: number; readonly message: string }[];
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it belongs to what the page shows as API calls; sign-in does not. */
  readonly isShown?: boolean;
}

export const BASE = "/client/v4";
/** The codes that say that nobody is signed in: no cookie, or one whose session is over. */
const SIGNED_OUT: ReadonlySet<number> = new Set([9106, 10437]);
/** The message that stays in a form after signing in again. */
const ENDED = "Your session had ended, so nothing was changed. Send it again.";
export const signedOut = new EventTarget();

export const cutOff = (): ApiError =>
  new ApiError(0, [
    {
      code: 0,
      message: `${unexplained(0)} If the connection broke on the way, the change may have been made: look before you send it again.`,
    },
  ]);

/** Sends a request. Throws ApiError if the server does not answer. An aborted request keeps its own error. */
async function send(method: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(BASE + path, { method, credentials: "same-origin", ...init });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw method === "GET" || path === "/graphql" ? new ApiError(0, [{ code: 0, message: unexplained(0) }]) : cutOff();
  }
}

export type Answer = Pick<Response, "status"> & { readonly headers: Pick<Headers, "get"> };

const errorOf = (response: Answer, faults: readonly ApiFault[]): ApiError =>
  new ApiError(response.status, faults, Number(response.headers.get("retry-after")) || 0);

/** One call of the public API, by the session's cookie. Throws ApiError with what the API says. */
export async function api<T>(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Reply<T>> {
  const isForm = body instanceof FormData;
  const response = await send(method, path, {
    signal: options.signal ?? null,
    headers: { ...(body === undefined || isForm ? {} : { "content-type": "application/json" }), ...options.headers },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  if (options.isShown !== false) note({ method, path, body: isForm ? "(a form)" : body, status: response.status });
  return envelopeOf<T>(response, await response.text().catch(() => ""), options.isShown);
}

/** The reply in an answer's text. Throws ApiError with what the API says. */
export function envelopeOf<T>(response: Answer, text: string, isShown = true): Reply<T> {
  // RFC 9110 §15.3.5: 204 has no content, the envelope included.
  if (response.status === 204) return { result: null as T };
  const envelope = parse<Envelope<T>>(text);
  if (envelope?.success) return envelope;
  const error = errorOf(response, envelope?.errors ?? []);
  if (!SIGNED_OUT.has(error.code) || !isShown) throw error;
  signedOut.dispatchEvent(new Event("signed-out"));
  throw new ApiError(error.status, [{ code: error.code, message: ENDED }]);
}

/** GraphQL responses use their own envelope. */
export async function graphql<T>(query: string, variables: object, signal?: AbortSignal): Promise<T> {
  const response = await send("POST", "/graphql", {
    signal: signal ?? null,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  note({ method: "POST", path: "/graphql", body: { query, variables }, status: response.status });
  const answer = parse<GraphqlAnswer<T>>(await response.text().catch(() => ""));
  if (!answer?.data)
    throw errorOf(
      response,
      (answer?.errors ?? []).map(({ code, message }) => ({ code: code ?? 0, message })),
    );
  return answer.data;
}

/** A text that the API answers without an envelope: an exported zone, the body of a log. */
export async function apiText(path: string): Promise<string> {
  const response = await send("GET", path, {});
  const text = await response.text();
  if (!response.ok) throw errorOf(response, parse<Envelope<unknown>>(text)?.errors ?? []);
  return text;
}

type Envelope<T> = Reply<T> & { readonly success: boolean; readonly errors: readonly ApiFault[] };
interface GraphqlAnswer<T> {
  readonly data?: T | null;
  readonly errors?: readonly { readonly code?: number; readonly message: string }[] | null;
}

function parse<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
