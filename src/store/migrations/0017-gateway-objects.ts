import type { Dialect } from "#store/queries/session.ts";

/** Accounts' objects for their gateways: provider keys, custom providers with costs, dynamic routes. */
export const gatewayObjects = ({ text, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE gateway_objects (${[
    `id ${text} PRIMARY KEY`,
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    // Empty if the object belongs to the account alone.
    `gateway_id ${text} NOT NULL`,
    `kind ${text} NOT NULL`,
    // The object's parent: the provider of a cost, the route of a version.
    `parent_id ${text} NOT NULL`,
    `value ${text} NOT NULL`,
    `created_at ${text} NOT NULL`,
    `modified_at ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX gateway_objects_by_owner ON gateway_objects (account_id, kind, gateway_id, parent_id)",
];
