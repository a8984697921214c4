import type { Dialect } from "#store/queries/session.ts";

/** The last unit of a large change that is done, and which of its runs did it. */
export const unitsOfLargeChanges = ({ integer }: Dialect): readonly string[] => [
  `ALTER TABLE dns_imports ADD COLUMN unit ${integer} NOT NULL DEFAULT 0`,
  `ALTER TABLE dns_imports ADD COLUMN run ${integer} NOT NULL DEFAULT 0`,
];
