import type { Dialect } from "#store/queries/session.ts";

/** The day of the API to which tokens and accounts are pinned, and the one that a change was made on where it was not the operator's. */
export const apiDates = ({ text }: Dialect): readonly string[] =>
  ["tokens", "accounts", "audit_log"].map((table) => `ALTER TABLE ${table} ADD COLUMN api_date ${text}`);
