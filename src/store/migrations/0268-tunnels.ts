import type { Dialect } from "#store/queries/session.ts";

/** Tunnels, with the configuration of their connectors. Deleted ones stay, without their secret. */
export const tunnels = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE tunnels (${[
    `id ${text} PRIMARY KEY`,
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    `name ${text} NOT NULL`,
    `config_src ${text} NOT NULL`,
    // Sealed.
    `secret ${text} NOT NULL`,
    `config ${text}`,
    `config_version ${integer} NOT NULL`,
    `config_at ${text} NOT NULL`,
    `ended ${text} NOT NULL`,
    `created_at ${text} NOT NULL`,
    `deleted_at ${text}`,
    `conns_active_at ${text}`,
    `conns_inactive_at ${text}`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX tunnels_by_account ON tunnels (account_id, created_at, id)",
];
