import type { Dialect } from "#store/queries/session.ts";

/** How an import handles invalid lines, and its report of them. */
export const importReports = ({ text }: Dialect): readonly string[] => [
  `ALTER TABLE dns_import_jobs ADD COLUMN on_error ${text} NOT NULL DEFAULT 'clamp'`,
  `ALTER TABLE dns_import_jobs ADD COLUMN report ${text}`,
];
