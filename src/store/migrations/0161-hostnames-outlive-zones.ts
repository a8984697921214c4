import type { Dialect } from "#store/queries/session.ts";

/** Rows of a zone that is gone, of which there may be thousands, stay until their turn comes (removals.ts). */
export const hostnamesOutliveZones = ({ name }: Dialect): readonly string[] =>
  name === "sqlite" ? WITHOUT_ZONE_REFERENCE : TABLES.map((table) => `ALTER TABLE ${table} DROP CONSTRAINT ${table}_zone_id_fkey`);

const TABLES = ["custom_hostnames", "custom_hostname_certificates", "certificate_orders", "certificate_renewals"];

/** Nothing on disk changes but the tables' own words (https://www.sqlite.org/lang_altertable.html §7). */
const WITHOUT_ZONE_REFERENCE: readonly string[] = [
  "PRAGMA writable_schema = ON",
  `UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOT NULL REFERENCES zones (id) ON DELETE CASCADE', 'NOT NULL'), 'NOT NULL REFERENCES "zones" (id) ON DELETE CASCADE', 'NOT NULL')
     WHERE type = 'table' AND name IN (${TABLES.map((table) => `'${table}'`).join(", ")})`,
  "PRAGMA writable_schema = RESET",
];
