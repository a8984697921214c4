import type { Dialect } from "#store/queries/session.ts";

/** Counts the changes of a lease's holder: work that began under an earlier number is over. */
export const leaseEpochs = ({ integer }: Dialect): readonly string[] => [
  `ALTER TABLE leases ADD COLUMN epoch ${integer} NOT NULL DEFAULT 1`,
];
