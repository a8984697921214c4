import type { Dialect } from "#store/queries/session.ts";

/** Logs of gateways on their way to all servers with control: each keeps them in its own events. */
export const sharedLogs = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE shared_log_end (${[`id ${integer} PRIMARY KEY`, `seq ${integer} NOT NULL`].join(", ")}) ${tableOptions}`,
  `CREATE TABLE shared_logs (${[
    `seq ${integer} PRIMARY KEY`,
    `head ${text} NOT NULL`,
    `body ${text} NOT NULL`,
    `bytes ${integer} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
  `CREATE TABLE shared_log_readers (${[
    `server ${text} PRIMARY KEY`,
    `seq ${integer} NOT NULL`,
    `since_ms ${integer} NOT NULL`,
    `seen_ms ${integer} NOT NULL`,
  ].join(", ")}) ${tableOptions}`,
];
