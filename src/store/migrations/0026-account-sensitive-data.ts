import type { Dialect } from "#store/queries/session.ts";

/** Accounts' settings of sensitive data detection, for all their zones. */
export const accountSensitiveData = ({ text, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE account_sensitive_data_objects (id ${text} PRIMARY KEY, account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, kind ${text} NOT NULL, value ${text} NOT NULL, created_on ${text} NOT NULL, modified_on ${text} NOT NULL) ${tableOptions}`,
  "CREATE INDEX account_sensitive_data_objects_by_account ON account_sensitive_data_objects (account_id, created_on, id)",
];
