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
  if (fault === null || !(root instanceof Error)) return error;
  const where = isFile(url) ? sqlitePath(url) : url.replace(/\/\/[^@/]*@/, "//");
  const remedy = REMEDIES[fault] ?? (isFile(url) ? "" : UNREACHABLE);
  const reason = FAULT_REASONS[fault] ?? FAULT_REASONS.database_unavailable;
  return new DatabaseFault(`cannot use the database ${where}: ${root.message}${remedy}`, { fault, reason }, error);
}

const UNREACHABLE = "; start that server, let this machine through its firewall, or correct database.url";

const REMEDIES: Readonly<Record<string, string>> = {
  database_damaged: "; restore it from a backup",
  storage_full: "; make room on its disk",
};
