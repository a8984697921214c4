import type { Dialect } from "#store/queries/session.ts";

/** Access rules of accounts; those of zones are in `firewall_objects`. */
export const accountFirewallObjects = ({ text, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE account_firewall_objects (${[
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    `kind ${text} NOT NULL`,
    `id ${text} NOT NULL`,
    `value ${text} NOT NULL`,
    `created_on ${text} NOT NULL`,
    `modified_on ${text} NOT NULL`,
    "PRIMARY KEY (account_id, kind, id)",
  ].join(", ")}) ${tableOptions}`,
];
