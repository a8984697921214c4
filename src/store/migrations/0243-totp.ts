import type { Dialect } from "#store/queries/session.ts";

/** The second factor of users who sign in with a password. */
export const totp = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE user_totp (${[
    `user_id ${text} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE`,
    `secret ${text} NOT NULL`,
    `recovery ${text} NOT NULL`,
    `last_step ${integer} NOT NULL`,
    `confirmed_on ${text}`,
  ].join(", ")}) ${tableOptions}`,
];
