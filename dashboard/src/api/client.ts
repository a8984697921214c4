import { note } from "./calls.ts";

/** An error of the API as a form can use it: which field, what to say, where it is explained. */
export interface ApiFault {
  readonly code: number;
  readonly message: string;
  readonly documentation_url?: string;
  readonly source?: { readonly pointer: string };
}

export class ApiError extends Error {
  readonly status: number;
  readonly faults: readonly ApiFault[];
  constructor(status: number, faults: readonly ApiFault[]) {
    super(faults[0]?.message ?? `The server answered ${status}.`);
    this.status = status;
    this.faults = faults;
  }
  get code(): number {
    return this.faults[0]?.code ?? 0;
  }
  /** `/data/port` → `data.port`; what names no field stays above the form under the empty name. */
  byField(): Readonly<Record<string, ApiFault>> {
    return Object.fromEntries(this.faults.map((fault) => [fault.source?.pointer.slice(1).replaceAll("/", ".") ?? "", fault]));
  }
}

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
export const signedOut = new EventTarget();

/** One call of the public API, by the session's cookie. Throws ApiError with what the API says. */
export async function api<T>(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Reply<T>> {
  const isForm = body instanceof FormData;
  const response = await fetch(BASE + path, {
    method,
    credentials: "same-origin",
    signal: options.signal ?? null,
    headers: { ...(body === undefined || isForm ? {} : { "content-type": "application/json" }), ...options.headers },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  if (options.isShown !== false) note({ method, path, body: isForm ? "(a form)" : body, status: response.status });
  // RFC 9110 §15.3.5: 204 has no content, the envelope included.
  if (response.status === 204) return { result: null as T };
  const text = await response.text();
  const envelope = parse<T>(text);
  if (envelope === undefined || !envelope.success) {
    const error = new ApiError(response.status, envelope?.errors ?? []);
    if (SIGNED_OUT.has(error.code) && options.isShown !== false) signedOut.dispatchEvent(new Event("signed-out"));
    throw error;
  }
  return envelope;
}

/** GraphQL responses use their own envelope. */
export async function graphql<T>(query: string, variables: object, signal?: AbortSignal): Promise<T> {
  const response = await fetch(`${BASE}/graphql`, {
    method: "POST",
    credentials: "same-origin",
    signal: signal ?? null,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  note({ method: "POST", path: "/graphql", body: { query, variables }, status: response.status });
  const answer = (await response.json()) as { data?: T | null; errors?: readonly { message: string }[] | null };
  if (!answer.data)
    throw new ApiError(
      response.status,
      (answer.errors ?? []).map(({ message }) => ({ code: 0, message })),
    );
  return answer.data;
}

/** A text that the API answers without an envelope: an exported zone, the body of a log. */
export async function apiText(path: string): Promise<string> {
  const response = await fetch(BASE + path, { credentials: "same-origin" });
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status, parse<unknown>(text)?.errors ?? []);
  return text;
}

type Envelope<T> = Reply<T> & { readonly success: boolean; readonly errors: readonly ApiFault[] };

function parse<T>(text: string): Envelope<T> | undefined {
  try {
    return JSON.parse(text) as Envelope<T>;
  } catch {
    return undefined;
  }
}
