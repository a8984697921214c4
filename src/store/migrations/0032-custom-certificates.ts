import type { Dialect } from "#store/queries/session.ts";

/** Certificates that zones' owners uploaded. */
export const customCertificates = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE custom_certificates (${[
    `id ${text} PRIMARY KEY`,
    `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`,
    `type ${text} NOT NULL`,
    `bundle_method ${text} NOT NULL`,
    `priority ${integer} NOT NULL`,
    `hosts ${text} NOT NULL`,
    `served_hosts ${text} NOT NULL`,
    `chain ${text} NOT NULL`,
    `private_key ${text} NOT NULL`,
    `fingerprint ${text} NOT NULL`,
    `issuer ${text} NOT NULL`,
    `signature ${text} NOT NULL`,
    `not_before ${text} NOT NULL`,
    `not_after ${text} NOT NULL`,
    `uploaded_on ${text} NOT NULL`,
    `modified_on ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX custom_certificates_by_zone ON custom_certificates (zone_id)",
];
