import type { Dialect } from "#store/queries/session.ts";

/** Machines with planes only, and the leases of duties that one control node has at a time. */
export const nodes = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE nodes (${[
    `name ${text} PRIMARY KEY`,
    `planes ${text} NOT NULL`,
    `token_hash ${text}`,
    `token_expires_ms ${integer} NOT NULL`,
    `public_key ${text}`,
    `joined_on ${text}`,
    `created_on ${text} NOT NULL`,
    `report ${text}`,
    `seen_ms ${integer}`,
  ].join(", ")}) ${tableOptions}`,
  `CREATE TABLE revoked_node_keys (public_key ${text} PRIMARY KEY, name ${text} NOT NULL, revoked_on ${text} NOT NULL) ${tableOptions}`,
  `CREATE TABLE leases (duty ${text} PRIMARY KEY, holder ${text} NOT NULL, until_ms ${integer} NOT NULL) ${tableOptions}`,
];
