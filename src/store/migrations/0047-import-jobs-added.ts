import type { Dialect } from "#store/queries/session.ts";

/** Number of records that an import added, once it is done. */
export const importJobsAdded = ({ integer }: Dialect): readonly string[] => [
  `ALTER TABLE dns_import_jobs ADD COLUMN added ${integer} NOT NULL DEFAULT 0`,
];
