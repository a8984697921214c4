import type { Dialect } from "#store/queries/session.ts";

/** Access applications of accounts and of zones. */
export const accessApps = ({ text, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE access_apps (${[
    `id ${text} PRIMARY KEY`,
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    // Null if it belongs to the account itself.
    `zone_id ${text} REFERENCES zones (id) ON DELETE CASCADE`,
    `type ${text} NOT NULL`,
    `aud ${text} NOT NULL`,
    `value ${text} NOT NULL`,
    `created_at ${text} NOT NULL`,
    `updated_at ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX access_apps_by_account ON access_apps (account_id, created_at, id)",
  "CREATE INDEX access_apps_by_zone ON access_apps (zone_id)",
];
