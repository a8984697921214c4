import type { Dialect } from "#store/queries/session.ts";

/** DNS settings of accounts, DNSSEC keys, both directions of zone transfers, and custom name servers. */
export function dnsSettings({ text, integer, tableOptions }: Dialect): readonly string[] {
  const table = (name: string, columns: readonly string[]): string => `CREATE TABLE ${name} (${columns.join(", ")}) ${tableOptions}`;
  return [
    `ALTER TABLE accounts ADD COLUMN dns_settings ${text} NOT NULL DEFAULT '{}'`,
    table("zone_dnssec", [
      `zone_id ${text} PRIMARY KEY REFERENCES zones (id)`,
      `key_id ${text} NOT NULL`,
      `status ${text} NOT NULL`,
      `public_key ${text} NOT NULL`,
      `private_key ${text} NOT NULL`,
      `multi_signer ${integer} NOT NULL`,
      `use_nsec3 ${integer} NOT NULL`,
      `modified_on ${text} NOT NULL`,
    ]),
    table("transfer_objects", [
      `id ${text} PRIMARY KEY`,
      `account_id ${text} NOT NULL REFERENCES accounts (id)`,
      `kind ${text} NOT NULL`,
      `value ${text} NOT NULL`,
      `created_on ${text} NOT NULL`,
    ]),
    "CREATE INDEX transfer_objects_by_account ON transfer_objects (account_id, kind, created_on)",
    table("zone_transfers", [
      `zone_id ${text} NOT NULL REFERENCES zones (id)`,
      `direction ${text} NOT NULL`,
      `id ${text} NOT NULL`,
      `settings ${text} NOT NULL`,
      `created_on ${text} NOT NULL`,
      `modified_on ${text} NOT NULL`,
      "PRIMARY KEY (zone_id, direction)",
    ]),
    table("custom_name_servers", [
      `account_id ${text} NOT NULL REFERENCES accounts (id)`,
      `name ${text} NOT NULL`,
      `ns_set ${integer} NOT NULL`,
      `created_on ${text} NOT NULL`,
      "PRIMARY KEY (account_id, name)",
    ]),
  ];
}
