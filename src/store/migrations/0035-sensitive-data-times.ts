import type { Dialect } from "#store/queries/session.ts";

const TABLES = ["sensitive_data_objects", "account_sensitive_data_objects"];
const COLUMNS = ["created_on", "modified_on"];

/** Milliseconds had been stored as microseconds: all these times are in 1970, and can be converted back. */
export const sensitiveDataTimes = ({ name }: Dialect): readonly string[] =>
  TABLES.flatMap((table) =>
    COLUMNS.map((column) => `UPDATE ${table} SET ${column} = ${TIMES_THOUSAND[name](column)} WHERE ${column} LIKE '1970-%'`),
  );

/** A whole second of the wrong time is a thousand seconds of the right one; its six decimals are the remaining milliseconds. */
const TIMES_THOUSAND: Readonly<Record<Dialect["name"], (column: string) => string>> = {
  sqlite: (column) => {
    const ms = `(CAST(strftime('%s', substr(${column}, 1, 19)) AS INTEGER) * 1000000 + CAST(substr(${column}, 21, 6) AS INTEGER))`;
    return `strftime('%Y-%m-%dT%H:%M:%S', ${ms} / 1000, 'unixepoch') || printf('.%03d000Z', ${ms} % 1000)`;
  },
  postgres: (column) => {
    const ms = `(EXTRACT(EPOCH FROM ${column}::timestamptz) * 1000000)::bigint`;
    return `to_char(to_timestamp(${ms} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS') || '.' || lpad((${ms} % 1000)::text, 3, '0') || '000Z'`;
  },
};
