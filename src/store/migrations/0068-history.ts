import type { Dialect } from "#store/queries/session.ts";

/** Of which history the revisions are, and on which database they were made (store/database/history.ts). */
export const history = ({ text }: Dialect): readonly string[] =>
  ["history", "identity"].map((column) => `ALTER TABLE counters ADD COLUMN ${column} ${text}`);
