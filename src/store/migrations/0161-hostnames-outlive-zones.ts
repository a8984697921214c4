import type { Dialect } from "#store/queries/session.ts";

/** Thousands of rows of a deleted zone may exist; they stay until they are removed over time (removals.ts). */
export const hostnamesOutliveZones = ({ name }: Dialect): readonly string[] =>
  name === "sqlite" ? WITHOUT_ZONE_REFERENCE : TABLES.map((table) => `ALTER TABLE ${table} DROP CONSTRAINT ${table}_zone_id_fkey`);

const TABLES = ["custom_hostnames", "custom_hostname_certificates", "certificate_orders", "certificate_renewals"];

/** Only the tables' definitions change (https://www.sqlite.org/lang_altertable.html §7). */
const WITHOUT_ZONE_REFERENCE: readonly string[] = [
  "PRAGMA writable_schema = ON",
  `UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOT NULL REFERENCES zones (id) ON DELETE CASCADE', 'NOT NULL'), 'NOT NULL REFERENCES "zones" (id) ON DELETE CASCADE', 'NOT NULL')
     WHERE type = 'table' AND name IN (${TABLES.map((table) => `'${table}'`).join(", ")})`,
  "PRAGMA writable_schema = RESET",
];
