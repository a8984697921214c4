import type { Dialect } from "#store/queries/session.ts";

/** Certificates that a zone's owner orders for names of its choice, each with the one in use. */
export const certificatePacks = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE certificate_packs (${[
    `id ${text} PRIMARY KEY`,
    `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`,
    `hosts ${text} NOT NULL`,
    `method ${text} NOT NULL`,
    `requested ${text} NOT NULL`,
    `validity_days ${integer} NOT NULL`,
    `branding ${integer} NOT NULL`,
    `status ${text} NOT NULL`,
    `error ${text} NOT NULL`,
    `chain ${text}`,
    `private_key ${text}`,
    `issuer ${text} NOT NULL`,
    `not_before ${text}`,
    `not_after ${text}`,
    `created_on ${text} NOT NULL`,
    `modified_on ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX certificate_packs_by_zone ON certificate_packs (zone_id, id)",
];
