import type { Dialect } from "#store/queries/session.ts";

/** Zones' objects of the previous firewall, and the progress of their migration to rulesets. */
export const previousWaf = ({ text, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE firewall_objects (${[
    `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`,
    `kind ${text} NOT NULL`,
    // Packages, groups and rules have the same ids in every zone.
    `id ${text} NOT NULL`,
    `value ${text} NOT NULL`,
    `created_on ${text} NOT NULL`,
    `modified_on ${text} NOT NULL`,
    "PRIMARY KEY (zone_id, kind, id)",
  ].join(", ")}) ${tableOptions}`,
  `ALTER TABLE zones ADD COLUMN waf_migration ${text} NOT NULL DEFAULT 'start'`,
];
