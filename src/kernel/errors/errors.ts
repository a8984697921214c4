import { ERROR_CODES, type ErrorCode, type ErrorName } from "./error-codes.ts";

/** One error in the `errors` of the response envelope (SPEC 2.1, contract.md §1). */
export interface ErrorItem {
  readonly code: number;
  readonly message: string;
  readonly documentation_url?: string;
  readonly source?: { readonly pointer: string };
  readonly error_chain?: readonly ErrorItem[];
}

export interface PlatformErrorOptions {
  /** Replaces the table's message with a more specific one. */
  readonly message?: string;
  /** For operators and logs; never sent to a client. */
  readonly detail?: string;
  /** JSON pointer into the request body, for example `/rules/0/action`. */
  readonly source?: string;
  readonly retryable?: boolean;
  readonly cause?: unknown;
  readonly chain?: readonly ErrorItem[];
  /** Replaces the table's HTTP status, for codes that are used with several. */
  readonly status?: number;
  /** Extra response headers, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The error class of domain code; the envelope, the error pages and the gateway render it. */
export class PlatformError extends Error {
  readonly errorName: ErrorName;
  readonly code: number;
  readonly status: number;
  readonly detail: string | undefined;
  readonly source: string | undefined;
  readonly retryable: boolean;
  readonly chain: readonly ErrorItem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(name: ErrorName, options: PlatformErrorOptions = {}) {
    const row: ErrorCode = ERROR_CODES[name];
    super(options.message ?? row.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "PlatformError";
    this.errorName = name;
    this.code = row.code;
    this.status = options.status ?? row.status;
    this.detail = options.detail;
    this.source = options.source;
    this.retryable = options.retryable ?? row.retry_after_seconds !== undefined;
    this.chain = options.chain ?? [];
    this.headers =
      row.retry_after_seconds === undefined ? (options.headers ?? {}) : { "retry-after": `${row.retry_after_seconds}`, ...options.headers };
  }

  toItem(): ErrorItem {
    return {
      code: this.code,
      message: this.message,
      ...(this.source === undefined ? {} : { source: { pointer: this.source } }),
      ...(this.chain.length === 0 ? {} : { error_chain: this.chain }),
    };
  }
}
