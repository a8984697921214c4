import type { Dialect } from "#store/queries/session.ts";

/** The nodes that get changes before others, and how far the others are: at most one row. */
export const rollout = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `ALTER TABLE nodes ADD COLUMN ring ${text} NOT NULL DEFAULT 'all'`,
  `CREATE TABLE rollout (${[
    `id ${integer} PRIMARY KEY`,
    `history ${text} NOT NULL`,
    `released ${integer} NOT NULL`,
    `paused ${text}`,
    `paused_on ${text}`,
  ].join(", ")}) ${tableOptions}`,
];
