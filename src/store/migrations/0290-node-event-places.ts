import type { Dialect } from "#store/queries/session.ts";

/** How far the events of each node are in the database of which control process. */
export const nodeEventPlaces = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE node_event_places (${[
    `node ${text} NOT NULL`,
    `source ${text} NOT NULL`,
    `epoch ${text} NOT NULL`,
    `segment ${integer} NOT NULL`,
    `at ${integer} NOT NULL`,
    `collector ${text} NOT NULL`,
    "PRIMARY KEY (node, source)",
  ].join(", ")}) ${tableOptions}`,
];
