import type { Dialect } from "#store/queries/session.ts";

/**
 * Certificates requested in the last minute, as rows: the previous list was one text, which each request rewrote. Old
 * rows are dropped, since only the last minute counts.
 */
export function issuanceTimes({ text, integer, tableOptions }: Dialect): readonly string[] {
  const account = `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`;
  const table = (name: string, columns: readonly string[]): string => `CREATE TABLE ${name} (${columns.join(", ")}) ${tableOptions}`;
  return [
    "DROP TABLE hostname_issuances",
    table("hostname_issuances", [account, `taken ${integer} NOT NULL`, `locked_until_ms ${integer} NOT NULL`, "PRIMARY KEY (account_id)"]),
    table("hostname_issuance_times", [
      account,
      `at_ms ${integer} NOT NULL`,
      `taken ${integer} NOT NULL`,
      "PRIMARY KEY (account_id, at_ms)",
    ]),
  ];
}
