import type { Dialect } from "#store/queries/session.ts";

/** Management calls by their form, for rehearsals. */
export const recordedCalls = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE recorded_calls (${[
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    `day ${text} NOT NULL`,
    `token_id ${text} NOT NULL`,
    `route ${text} NOT NULL`,
    `shape_hash ${text} NOT NULL`,
    `shape ${text} NOT NULL`,
    `api_date ${text}`,
    `calls ${integer} NOT NULL`,
    "PRIMARY KEY (account_id, day, token_id, route, shape_hash)",
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX recorded_calls_by_day ON recorded_calls (day)",
];
