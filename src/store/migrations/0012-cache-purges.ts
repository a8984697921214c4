import type { Dialect } from "#store/queries/session.ts";

/** Purges of each zone's cache, as the edge receives them. */
export const cachePurges = ({ text, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE cache_purges (zone_id ${text} PRIMARY KEY REFERENCES zones (id) ON DELETE CASCADE, value ${text} NOT NULL) ${tableOptions}`,
];
