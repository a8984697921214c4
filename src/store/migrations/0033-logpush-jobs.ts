import type { Dialect } from "#store/queries/session.ts";

/** Jobs that push logs. The progress of each is stored with the logs, on the machine that has them. */
export const logpushJobs = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE logpush_jobs (${[
    `id ${integer} PRIMARY KEY`,
    `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
    `dataset ${text} NOT NULL`,
    `enabled ${integer} NOT NULL`,
    `destination ${text} NOT NULL`,
    `settings ${text} NOT NULL`,
    `since_ms ${integer} NOT NULL`,
    `last_complete ${text}`,
    `last_error ${text}`,
    `error_message ${text}`,
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX logpush_jobs_by_account ON logpush_jobs (account_id)",
];
