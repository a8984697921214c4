import type { Dialect } from "#store/queries/session.ts";

/** By this the zones below a name are a range of an index. Null where it is from before: then only special-use and reverse zones have others below. */
export const zoneNamesReversed = ({ text }: Dialect): readonly string[] => [
  `ALTER TABLE zones ADD COLUMN name_reversed ${text}`,
  "CREATE INDEX zones_by_name_reversed ON zones (name_reversed)",
];
