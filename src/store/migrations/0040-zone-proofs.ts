import type { Dialect } from "#store/queries/session.ts";

/** All columns of `zones` at this version, in the order of their creation. */
const COLUMNS =
  "id, account_id, name, status, type, paused, plan, name_servers, settings, serial, record_count, vanity_name_servers, activated_on, created_on, modified_on, dns_version_count, edge_settings, waf_migration";

const FIRST_ACCOUNT = "(SELECT id FROM accounts ORDER BY created_on, id LIMIT 1)";

/**
 * Proofs of zone ownership (docs/guides/zone-ownership.md). Several accounts may claim a name, and one zone of it is
 * active. Zones of the first account are proved by the operator; existing zones of others keep serving while their
 * ownership is checked.
 */
export function zoneProofs(dialect: Dialect): readonly string[] {
  const { text, integer, tableOptions } = dialect;
  const table = (name: string, columns: readonly string[]): string => `CREATE TABLE ${name} (${columns.join(", ")}) ${tableOptions}`;
  return [
    ...(dialect.name === "sqlite" ? withoutUniqueName(dialect) : ["ALTER TABLE zones DROP CONSTRAINT zones_name_key"]),
    `ALTER TABLE zones ADD COLUMN proof ${text} NOT NULL DEFAULT 'none'`,
    `ALTER TABLE zones ADD COLUMN verification_key ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE zones ADD COLUMN original_name_servers ${text}`,
    `ALTER TABLE zones ADD COLUMN pair ${text} NOT NULL DEFAULT '[]'`,
    "UPDATE zones SET pair = name_servers",
    `UPDATE zones SET proof = 'operator' WHERE account_id = ${FIRST_ACCOUNT}`,
    ...(dialect.name === "sqlite" ? [] : ["DROP INDEX zones_by_account"]),
    "CREATE UNIQUE INDEX zones_by_account ON zones (account_id, name)",
    "CREATE INDEX zones_by_name ON zones (name)",
    "CREATE UNIQUE INDEX zones_active_by_name ON zones (name) WHERE status = 'active'",
    // Pending checks of a zone's ownership, and their times. Zones without pending checks have no row.
    table("zone_claims", [
      `zone_id ${text} PRIMARY KEY REFERENCES zones (id) ON DELETE CASCADE`,
      `since_ms ${integer} NOT NULL`,
      `next_look_ms ${integer} NOT NULL`,
      `looks ${integer} NOT NULL`,
      `seen_looks ${integer} NOT NULL`,
      `seen_ms ${integer}`,
      `elsewhere_looks ${integer} NOT NULL`,
      `elsewhere_since_ms ${integer}`,
      `asked_ms ${integer}`,
      `reason ${text} NOT NULL`,
    ]),
    "CREATE INDEX zone_claims_by_look ON zone_claims (next_look_ms)",
    `INSERT INTO zone_claims (zone_id, since_ms, next_look_ms, looks, seen_looks, elsewhere_looks, reason) SELECT id, 0, 0, 0, 0, 0, '' FROM zones WHERE proof = 'none'`,
    // Zones that were active, by name and account: a later zone of the name gets another pair for a while, and always a
    // higher serial.
    table("former_zones", [
      `name ${text} NOT NULL`,
      `account_id ${text} NOT NULL`,
      `pair ${text} NOT NULL`,
      `serial ${integer} NOT NULL`,
      `proof ${text} NOT NULL`,
      `deleted_ms ${integer} NOT NULL`,
      "PRIMARY KEY (name, account_id)",
    ]),
  ];
}

/** SQLite cannot drop a constraint: a copy without it replaces the table (https://www.sqlite.org/lang_altertable.html §7). */
const withoutUniqueName = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE zones_copy (${[
    `id ${text} PRIMARY KEY`,
    `account_id ${text} NOT NULL REFERENCES accounts (id)`,
    `name ${text} NOT NULL`,
    `status ${text} NOT NULL`,
    `type ${text} NOT NULL`,
    `paused ${integer} NOT NULL`,
    `plan ${text} NOT NULL`,
    `name_servers ${text} NOT NULL`,
    `settings ${text} NOT NULL`,
    `serial ${integer} NOT NULL`,
    `record_count ${integer} NOT NULL`,
    `vanity_name_servers ${text} NOT NULL`,
    `activated_on ${text}`,
    `created_on ${text} NOT NULL`,
    `modified_on ${text} NOT NULL`,
    `dns_version_count ${integer} NOT NULL DEFAULT 0`,
    `edge_settings ${text} NOT NULL DEFAULT '{}'`,
    `waf_migration ${text} NOT NULL DEFAULT 'start'`,
  ].join(", ")}) ${tableOptions}`,
  `INSERT INTO zones_copy (${COLUMNS}) SELECT ${COLUMNS} FROM zones`,
  "DROP TABLE zones",
  "ALTER TABLE zones_copy RENAME TO zones",
];
