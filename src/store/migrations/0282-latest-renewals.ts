import type { Dialect } from "#store/queries/session.ts";

/** The time after which no advice of an authority moves a renewal; null for certificates of before. */
export const latestRenewals = ({ integer }: Dialect): readonly string[] => [
  `ALTER TABLE certificate_renewals ADD COLUMN latest_ms ${integer}`,
];
