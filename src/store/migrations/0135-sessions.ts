import type { Dialect } from "#store/queries/session.ts";

/** Passwords of users, and their browser sessions. */
export const sessions = ({ text, tableOptions }: Dialect): readonly string[] => [
  `ALTER TABLE users ADD COLUMN password_hash ${text}`,
  `CREATE TABLE sessions (${[
    `id ${text} PRIMARY KEY`,
    `hash ${text} NOT NULL UNIQUE`,
    `user_id ${text} REFERENCES users (id) ON DELETE CASCADE`,
    `token_id ${text} REFERENCES tokens (id) ON DELETE CASCADE`,
    `label ${text} NOT NULL`,
    `ip ${text} NOT NULL`,
    `created_on ${text} NOT NULL`,
    `last_seen_on ${text} NOT NULL`,
    `expires_on ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX sessions_by_user ON sessions (user_id, created_on)",
  "CREATE INDEX sessions_by_token ON sessions (token_id, created_on)",
];
