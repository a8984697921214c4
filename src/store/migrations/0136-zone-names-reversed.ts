import type { Dialect } from "#store/queries/session.ts";

/**
 * Makes the zones below a name a range of an index. Null in older rows: of these, only special-use and reverse zones have
 * other zones below.
 */
export const zoneNamesReversed = ({ text }: Dialect): readonly string[] => [
  `ALTER TABLE zones ADD COLUMN name_reversed ${text}`,
  "CREATE INDEX zones_by_name_reversed ON zones (name_reversed)",
];
