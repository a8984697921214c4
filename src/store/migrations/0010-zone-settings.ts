import type { Dialect } from "#store/queries/session.ts";

/** Settings of a zone's traffic are in the zone's row, so that compiling the zone needs only that row. */
export const zoneSettings = ({ text }: Dialect): readonly string[] => [
  `ALTER TABLE zones ADD COLUMN edge_settings ${text} NOT NULL DEFAULT '{}'`,
];
