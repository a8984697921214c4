import type { Dialect } from "#store/queries/session.ts";

/** Of which row an account was told how many days before its date. */
export const deprecationNotices = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE deprecation_notices (${[
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    `deprecation_id ${text} NOT NULL`,
    `days_left ${integer} NOT NULL`,
    `told_on ${text} NOT NULL`,
    "PRIMARY KEY (account_id, deprecation_id, days_left)",
  ].join(", ")}) ${tableOptions}`,
];
