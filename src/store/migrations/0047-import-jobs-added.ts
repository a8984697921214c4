import type { Dialect } from "#store/queries/session.ts";

/** How many records an import has added, once it is done. */
export const importJobsAdded = ({ integer }: Dialect): readonly string[] => [
  `ALTER TABLE dns_import_jobs ADD COLUMN added ${integer} NOT NULL DEFAULT 0`,
];
