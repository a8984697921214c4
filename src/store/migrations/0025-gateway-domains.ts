import type { Dialect } from "#store/queries/session.ts";

/** Hostnames of gateways; each belongs to one gateway. */
export const gatewayDomains = ({ text, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE gateway_domains (${[
    `hostname ${text} PRIMARY KEY`,
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    `gateway_id ${text} NOT NULL`,
    // The account's zone that contains the name.
    `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`,
    `min_tls ${text} NOT NULL`,
    `created_at ${text} NOT NULL`,
    `modified_at ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX gateway_domains_by_gateway ON gateway_domains (account_id, gateway_id)",
  "CREATE INDEX gateway_domains_by_zone ON gateway_domains (zone_id)",
];
