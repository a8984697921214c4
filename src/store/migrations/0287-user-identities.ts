import type { Dialect } from "#store/queries/session.ts";

/** Users as a provider of sign-in (OpenID Connect) knows them. */
export const userIdentities = ({ text, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE user_identities (${[
    `issuer ${text} NOT NULL`,
    `subject ${text} NOT NULL`,
    `user_id ${text} NOT NULL REFERENCES users (id) ON DELETE CASCADE`,
    `created_on ${text} NOT NULL`,
    `last_used_on ${text} NOT NULL`,
    "PRIMARY KEY (issuer, subject)",
  ].join(", ")}) ${tableOptions}`,
  "CREATE UNIQUE INDEX user_identities_by_user ON user_identities (user_id, issuer)",
];
