import { setDefaultCACertificates } from "node:tls";
import { withoutEnd } from "#kernel/trim.ts";
import { authorityAdvice } from "./authority.ts";
import { CliError, EXIT } from "./outcome.ts";

interface ApiError {
  readonly code: number;
  readonly message: string;
  readonly error_chain?: readonly ApiError[];
}

/** An answer of the API with `success: false`, or the lack of one. */
export class ApiFailure extends Error {
  readonly errors: readonly ApiError[];
  /** HTTP status. */
  readonly status: number;

  constructor(errors: readonly ApiError[], status: number) {
    super(errors.map(described).join("; ") + adviceOf(errors));
    this.name = "ApiFailure";
    this.errors = errors;
    this.status = status;
  }

  has(...codes: readonly number[]): boolean {
    return this.errors.some(({ code }) => codes.includes(code));
  }
}

/** The chain gives the details, such as the wrong header. */
const described = ({ code, message, error_chain: chain = [] }: ApiError): string =>
  [`${message} (${code})`, ...chain.map(described)].join(": ");

/** Advice for a refusal that depends on the token, by the codes and messages of kernel/errors/error-codes.ts. */
const ADVICE: readonly (readonly [code: number, message: RegExp, advice: string])[] = [
  [6111, /^/, "The token in SELVEDGE_TOKEN or --token does not look like an API token. Check that it was copied whole."],
  [
    9109,
    /^Invalid access token/,
    "The API does not know the token in SELVEDGE_TOKEN or --token: it is mistyped, deleted or expired, or it belongs to another installation. `selvedge token list` shows which tokens exist.",
  ],
  [9109, /^Cannot use/, "The token in SELVEDGE_TOKEN or --token may only be used from other addresses."],
  [10000, /^/, "The token in SELVEDGE_TOKEN or --token is valid, but its permissions do not include this."],
];

function adviceOf(errors: readonly ApiError[]): string {
  const all = errors.flatMap((error) => [error, ...(error.error_chain ?? [])]);
  const row = ADVICE.find(([code, message]) => all.some((error) => error.code === code && message.test(error.message)));
  return row === undefined ? "" : `\n${row[2]}`;
}

/** Each throws ApiFailure if the API refuses, and CliError if it cannot be reached. */
export interface ApiClient {
  /** The `result` of a call. */
  call(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: object): Promise<unknown>;
  /** The `result` of an uploaded form; the server may need minutes for it. */
  upload(path: string, form: FormData): Promise<unknown>;
  /** The text of an answer without an envelope. */
  download(path: string): Promise<string>;
  /** Reads an event stream until it ends; `lastEventId` is the event after which it continues. */
  follow(path: string, lastEventId: string | undefined, take: (bytes: Buffer) => void): Promise<void>;
}

const CALL_TIMEOUT_MS = 30_000;
const FILE_TIMEOUT_MS = 300_000;
/** Afterwards a new connection continues the stream. */
const STREAM_TIMEOUT_MS = 3_600_000;
const RATE_LIMIT_TRIES_MAX = 20;
const RATE_LIMIT_WAIT_MS_MAX = 300_000;

const SERVER_ERROR = 500;

interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string | FormData;
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client of the management API that waits as the rate limit requires; `onWait` gets the delay. */
export function createApiClient(deps: {
  readonly base: string;
  readonly token: string;
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Certificate of the only authority to trust, in PEM; absent: those of the system. */
  readonly authority?: string | undefined;
  readonly onWait: (waitMs: number) => void;
}): ApiClient {
  // A command connects to nothing else.
  if (deps.authority !== undefined) setDefaultCACertificates([deps.authority]);
  const base = withoutEnd(deps.base, "/");
  const headers = { ...deps.headers, authorization: `Bearer ${deps.token}` };
  const send = async ({ method, path, body, timeoutMs, headers: more }: ApiRequest): Promise<Response> => {
    try {
      return await fetch(base + path, {
        method,
        // A form has a separate content type, with the boundary of its parts.
        headers: body instanceof FormData ? headers : { ...headers, ...more, "content-type": "application/json" },
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { body }),
      });
    } catch (error) {
      const { cause } = error as Error;
      const why = cause instanceof Error ? cause.message : (error as Error).message;
      throw new CliError(
        `cannot reach the API at ${base}: ${why}${authorityAdvice(cause, deps.authority !== undefined)}`,
        EXIT.failed,
        true,
      );
    }
  };
  const patiently = async (request: ApiRequest): Promise<Response> => {
    for (let tries = 1; ; tries++) {
      const response = await send(request);
      if (response.status !== 429 || tries === RATE_LIMIT_TRIES_MAX) return response;
      await response.arrayBuffer();
      const waitMs = Math.min(RATE_LIMIT_WAIT_MS_MAX, Math.max(1, Number(response.headers.get("retry-after")) || 1) * 1000);
      deps.onWait(waitMs);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  };
  return {
    call: async (method, path, body) =>
      resultOf(
        await patiently({ method, path, timeoutMs: CALL_TIMEOUT_MS, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
      ),
    upload: async (path, form) => resultOf(await patiently({ method: "POST", path, body: form, timeoutMs: FILE_TIMEOUT_MS })),
    download: async (path) => {
      const response = await patiently({ method: "GET", path, timeoutMs: FILE_TIMEOUT_MS });
      return response.ok ? response.text() : String(await resultOf(response));
    },
    follow: async (path, lastEventId, take) => {
      const more = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
      const response = await patiently({ method: "GET", path, timeoutMs: STREAM_TIMEOUT_MS, headers: more });
      if (!response.ok) return void (await resultOf(response));
      try {
        for await (const bytes of response.body ?? []) take(Buffer.from(bytes));
      } catch (error) {
        throw new CliError(`the stream from ${base} was interrupted: ${(error as Error).message}`, EXIT.failed, true);
      }
    },
  };
}

async function resultOf(response: Response): Promise<unknown> {
  let envelope: { readonly success?: boolean; readonly result?: unknown; readonly errors?: readonly ApiError[] };
  try {
    envelope = (await response.json()) as typeof envelope;
    // The envelope always says whether the call succeeded.
    if (typeof envelope.success !== "boolean") throw new Error("another server");
  } catch {
    const why = `what responded (${response.status}) is not the API of Selvedge. Check the base URL; it ends with /client/v4`;
    throw new CliError(why, EXIT.failed, response.status >= SERVER_ERROR);
  }
  if (envelope.success === true) return envelope.result;
  throw new ApiFailure(
    envelope.errors?.length ? envelope.errors : [{ code: response.status, message: "the API rejected the call" }],
    response.status,
  );
}
