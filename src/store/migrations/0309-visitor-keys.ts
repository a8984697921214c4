import type { Dialect } from "#store/queries/session.ts";

/** The keys that edges of several machines share for their visitors: at most one row. */
export const visitorKeys = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE visitor_keys (${[`id ${integer} PRIMARY KEY`, `keys ${text} NOT NULL`, `made_ms ${integer} NOT NULL`].join(", ")}) ${tableOptions}`,
];
