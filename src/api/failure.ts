import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError, type ErrorItem } from "#kernel/errors/errors.ts";

/** An error in the form for clients. */
export interface Failure {
  readonly status: number;
  readonly errors: readonly ErrorItem[];
  readonly headers: Readonly<Record<string, string>>;
  /** True if the server is at fault, so that an operator must be notified. */
  readonly unexpected: boolean;
}

/** Several errors in one answer: the findings of a body's validation. */
export class PlatformErrors extends Error {
  readonly items: readonly PlatformError[];

  constructor(items: readonly PlatformError[]) {
    super(items.map((item) => item.message).join("; "));
    this.name = "PlatformErrors";
    this.items = items;
  }
}

export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof PlatformErrors)
    return { status: thrown.items[0]?.status ?? 400, errors: thrown.items.map((item) => item.toItem()), headers: {}, unexpected: false };
  const error = thrown instanceof PlatformError ? thrown : (translated(thrown) ?? new PlatformError("internal", { cause: thrown }));
  return { status: error.status, errors: withSecond(error), headers: error.headers, unexpected: isOurs(error.status) };
}

const BAD_GATEWAY = 502;

/** A bad gateway is a server that an account has named, and its details are for the account. */
const isOurs = (status: number): boolean => status >= 500 && status !== BAD_GATEWAY;

/** Errors that come with a second one, because clients look for either (contract.md §2). */
const SECOND: Partial<Record<ErrorName, ErrorName>> = { bad_identifier: "no_route", dns_record_exists: "dns_record_exists_formerly" };

function withSecond(error: PlatformError): readonly ErrorItem[] {
  const second = SECOND[error.errorName];
  return [error.toItem(), ...(second === undefined ? [] : [new PlatformError(second).toItem()])];
}

/** Refusals by the HTTP framework itself, by its code. */
const FRAMEWORK_ERRORS: Readonly<Record<string, () => PlatformError>> = {
  FST_ERR_BAD_URL: () => new PlatformError("no_route"),
  FST_ERR_MAX_PARAM_LENGTH: () => new PlatformError("bad_identifier"),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new PlatformError("invalid_request_headers", {
      chain: [{ code: 6105, message: "Invalid Content-Type header, it is not a media type" }],
    }),
};

const translated = (thrown: unknown): PlatformError | undefined =>
  thrown instanceof Error && "code" in thrown ? FRAMEWORK_ERRORS[String(thrown.code)]?.() : undefined;
