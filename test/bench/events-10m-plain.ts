import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { EVENT_EVERY, eventAt, requestAt, ROWS } from "./events-10m-rows.ts";

// The peer of `events-10m`: SQLite with a straightforward table, filled by a separate thread.

/** Other than with our writer, more rows at a time cost less: an index by zone has a page for each zone to write. */
const ROWS_PER_TRANSACTION = 10_000;

type SqlValue = string | number | null;

const cellOf = (value: unknown): SqlValue =>
  typeof value === "string" || typeof value === "number" || value === null ? value : JSON.stringify(value);

const db = new DatabaseSync(workerData as string);
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
const insertRequest = inserter("requests", requestAt(1));
const insertEvent = inserter("security_events", eventAt(0));
for (let n = 0; n < ROWS;) {
  db.exec("BEGIN");
  for (const end = Math.min(ROWS, n + ROWS_PER_TRANSACTION); n < end; n++)
    if (n % EVENT_EVERY === 0) insertEvent(eventAt(n));
    else insertRequest(requestAt(n));
  db.exec("COMMIT");
}
db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
db.close();
parentPort?.postMessage(process.threadCpuUsage());

/** Makes the table, which has the columns of the row, and an index by zone and time. */
function inserter(table: string, example: object): (row: object) => void {
  const columns = Object.keys(example);
  db.exec(
    `CREATE TABLE ${table} (row_id INTEGER PRIMARY KEY, ${columns.join(", ")}); CREATE INDEX ${table}_zone ON ${table} (zone_id, at_ms)`,
  );
  const statement = db.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`);
  return (row) => {
    const cells: SqlValue[] = [];
    for (const value of Object.values(row) as unknown[]) cells.push(cellOf(value));
    statement.run(...cells);
  };
}
