import type { Dialect } from "#store/queries/session.ts";

/** What an import does where a line is wrong, and what it says of such lines. */
export const importReports = ({ text }: Dialect): readonly string[] => [
  `ALTER TABLE dns_import_jobs ADD COLUMN on_error ${text} NOT NULL DEFAULT 'clamp'`,
  `ALTER TABLE dns_import_jobs ADD COLUMN report ${text}`,
];
