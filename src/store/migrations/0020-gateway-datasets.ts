import type { Dialect } from "#store/queries/session.ts";

/** Datasets of a gateway's logs, and their evaluations. Both are deleted with their gateway. */
export function gatewayDatasets({ text, integer, tableOptions }: Dialect): readonly string[] {
  const table = (name: string, columns: readonly string[]): string =>
    `CREATE TABLE ${name} (id ${text} PRIMARY KEY, account_id ${text} NOT NULL, gateway_id ${text} NOT NULL, name ${text} NOT NULL, ${columns.join(", ")}, created_at ${text} NOT NULL, modified_at ${text} NOT NULL, FOREIGN KEY (account_id, gateway_id) REFERENCES gateways (account_id, id) ON DELETE CASCADE) ${tableOptions}`;
  return [
    table("gateway_datasets", [`enable ${integer} NOT NULL`, `filters ${text} NOT NULL`]),
    "CREATE INDEX gateway_datasets_by_gateway ON gateway_datasets (account_id, gateway_id, created_at)",
    table("gateway_evaluations", [`datasets ${text} NOT NULL`, `results ${text} NOT NULL`, `total_logs ${integer} NOT NULL`]),
    "CREATE INDEX gateway_evaluations_by_gateway ON gateway_evaluations (account_id, gateway_id, created_at)",
  ];
}
