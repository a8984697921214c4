import type { Dialect } from "#store/queries/session.ts";

/** Invitations to accounts, one for each membership that waits for its user, and the accelerators of organizations. */
export const invitations = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE invitations (${[
    `membership_id ${text} PRIMARY KEY REFERENCES memberships (id) ON DELETE CASCADE`,
    `token_hash ${text}`,
    `invited_by ${text} NOT NULL`,
    `created_on ${text} NOT NULL`,
    `expires_on ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE UNIQUE INDEX invitations_by_token ON invitations (token_hash)",
  `CREATE TABLE accelerators (${[
    `id ${text} PRIMARY KEY`,
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    `name ${text} NOT NULL`,
    `enabled ${integer} NOT NULL`,
    `created_on ${text} NOT NULL`,
    `modified_on ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX accelerators_by_account ON accelerators (account_id)",
];
