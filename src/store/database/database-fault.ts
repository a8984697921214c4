import { PlatformError } from "#kernel/errors/errors.ts";
import type { Dialect, Fault } from "#store/queries/session.ts";
import { isFile, sqlitePath } from "./backends/backend.ts";
import { FAULT_REASONS } from "./health.ts";
import type { Absence } from "./lazy-store.ts";

/** A database that cannot be used, with a message for the operator and a reason for clients. */
export class DatabaseFault extends Error {
  readonly absence: Absence;

  constructor(message: string, absence: Absence, cause?: unknown) {
    super(message, { cause });
    this.name = "DatabaseFault";
    this.absence = absence;
  }
}

/** Adds to the error which database it is and what the operator can do. */
export function explained(error: unknown, url: string, dialect: Dialect): unknown {
  const fault = dialect.fault(error) ?? (error instanceof PlatformError ? (error.errorName as Fault) : null);
  const root = error instanceof PlatformError ? error.cause : error;
  if (!(root instanceof Error)) return error;
  const where = isFile(url) ? sqlitePath(url) : url.replace(/\/\/[^@/]*@/, "//");
  const wrong = WRONG_URLS[String((root as { readonly code?: unknown }).code)];
  if (wrong !== undefined) return new Error(`cannot use the database ${where}: ${root.message}${wrong}`, { cause: error });
  if (fault === null) return error;
  const remedy = REMEDIES[fault] ?? (isFile(url) ? "" : UNREACHABLE);
  const reason = FAULT_REASONS[fault] ?? FAULT_REASONS.database_unavailable;
  return new DatabaseFault(`cannot use the database ${where}: ${root.message}${remedy}`, { fault, reason }, error);
}

const UNREACHABLE = "; start that server, let this machine through its firewall, or correct database.url";

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html): waiting does not help. */
const WRONG_URLS: Readonly<Record<string, string>> = {
  "3D000": "; restore it from a backup, create it for a new installation, or correct database.url",
  "28000": "; correct the user in database.url, or let the user in at that server",
  "28P01": "; correct the user and password in database.url",
};

const REMEDIES: Readonly<Record<string, string>> = {
  database_damaged: "; restore it from a backup",
  storage_full: "; make room on its disk",
};
