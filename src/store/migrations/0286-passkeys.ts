import type { Dialect } from "#store/queries/session.ts";

/** Passkeys of users, the challenges of sign-ins in progress, and how a session began. */
export const passkeys = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE user_passkeys (${[
    `id ${text} PRIMARY KEY`,
    `user_id ${text} NOT NULL REFERENCES users (id) ON DELETE CASCADE`,
    `credential_id ${text} NOT NULL`,
    `public_key ${text} NOT NULL`,
    `counter ${integer} NOT NULL`,
    `host ${text} NOT NULL`,
    `transports ${text} NOT NULL`,
    `synced ${integer} NOT NULL`,
    `name ${text} NOT NULL`,
    `created_on ${text} NOT NULL`,
    `last_used_on ${text}`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE UNIQUE INDEX user_passkeys_by_credential ON user_passkeys (credential_id)",
  "CREATE INDEX user_passkeys_by_user ON user_passkeys (user_id)",
  `CREATE TABLE sign_in_challenges (${[
    `hash ${text} PRIMARY KEY`,
    `purpose ${text} NOT NULL`,
    `user_id ${text} REFERENCES users (id) ON DELETE CASCADE`,
    `data ${text} NOT NULL`,
    `expires_on ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX sign_in_challenges_by_expiry ON sign_in_challenges (expires_on)",
  "CREATE INDEX sign_in_challenges_by_user ON sign_in_challenges (user_id)",
  `ALTER TABLE sessions ADD COLUMN began_with ${text}`,
  `ALTER TABLE sessions ADD COLUMN passkey_id ${text}`,
];
