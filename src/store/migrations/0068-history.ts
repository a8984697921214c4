import type { Dialect } from "#store/queries/session.ts";

/** The history of the revisions, and the database on which it began (store/database/history.ts). */
export const history = ({ text }: Dialect): readonly string[] =>
  ["history", "identity"].map((column) => `ALTER TABLE counters ADD COLUMN ${column} ${text}`);
