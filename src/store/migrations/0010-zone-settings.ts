import type { Dialect } from "#store/queries/session.ts";

/** Settings of a zone's traffic stand in the zone's row, which says all there is to compile. */
export const zoneSettings = ({ text }: Dialect): readonly string[] => [
  `ALTER TABLE zones ADD COLUMN edge_settings ${text} NOT NULL DEFAULT '{}'`,
];
