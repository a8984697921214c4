import type { Dialect } from "#store/queries/session.ts";

/** The addresses of visitors that each node has, and those in the answers of nameservers: at most one row. */
export const edgeAddresses = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `ALTER TABLE nodes ADD COLUMN addresses ${text} NOT NULL DEFAULT '[]'`,
  `CREATE TABLE edge_addresses (${[
    `id ${integer} PRIMARY KEY`,
    `addresses ${text}`,
    `serials_after ${text}`,
    `modified_on ${text} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
];
