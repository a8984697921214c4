import type { DatabaseSync } from "node:sqlite";
import type { EventTables } from "#events/rows.ts";
import type { Cell } from "#events/schema.ts";
import type { ReadRecord } from "./reader.ts";

/**
 * What the events database knows of segments, beside the rows themselves: how far each was read, how many rows a gateway
 * has, and what its requests come to by hour. Running the statements again changes nothing.
 */
export const LOG_TABLES: readonly string[] = [
  "CREATE TABLE IF NOT EXISTS gateway_segments (segment INTEGER PRIMARY KEY, read_to INTEGER NOT NULL, first_row INTEGER, last_row INTEGER) STRICT",
  "CREATE TABLE IF NOT EXISTS gateway_log_counts (account_id TEXT NOT NULL, gateway_id TEXT NOT NULL, rows INTEGER NOT NULL, PRIMARY KEY (account_id, gateway_id)) STRICT, WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS gateway_usage (account_id TEXT NOT NULL, gateway_id TEXT NOT NULL, hour_ms INTEGER NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, requests INTEGER NOT NULL, failed INTEGER NOT NULL, cached INTEGER NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, tokens_in_cached INTEGER NOT NULL, tokens_out_cached INTEGER NOT NULL, cost REAL NOT NULL, duration_ms REAL NOT NULL, PRIMARY KEY (account_id, gateway_id, hour_ms, provider, model)) STRICT, WITHOUT ROWID",
  "CREATE TRIGGER IF NOT EXISTS gateway_logs_deleted AFTER DELETE ON gateway_logs BEGIN UPDATE gateway_log_counts SET rows = rows - 1 WHERE account_id = OLD.account_id AND gateway_id = OLD.gateway_id; END",
];

/** Where reading goes on. */
export interface Checkpoint {
  readonly segment: number;
  readonly readTo: number;
}

export interface LogBatch {
  readonly segment: number;
  /** By which the cells of the records are named. */
  readonly columns: readonly string[];
  readonly records: readonly ReadRecord[];
  readonly readTo: number;
}

/** The writer's statements for gateway logs. Every method runs within the caller's transaction. */
export interface LogTables {
  /** Of the newest segment that was read; undefined where none was. */
  checkpoint(): Checkpoint | undefined;
  /** Inserts the rows that are to be kept, counts all of them, and remembers how far the segment was read: all or nothing. */
  index(batch: LogBatch): void;
  /** Segments, but for the newest, none of whose rows are left; they are forgotten. */
  takeEmptySegments(): readonly number[];
  /** Forgets hours before this one. */
  deleteUsageBefore(hourMs: number): void;
}

type Row = Readonly<Record<string, unknown>>;
type InsertRows = (rows: readonly Row[]) => void;

export function createLogTables(
  db: DatabaseSync,
  columns: readonly { readonly name: string }[],
  insert: (cells: readonly Cell[]) => void,
): LogTables {
  for (const statement of LOG_TABLES) db.exec(statement);
  const newest = db.prepare("SELECT segment, read_to FROM gateway_segments ORDER BY segment DESC LIMIT 1");
  const lastRow = db.prepare("SELECT IFNULL(MAX(row_id), 0) AS n FROM gateway_logs");
  const remember = db.prepare(
    "INSERT INTO gateway_segments (segment, read_to, first_row, last_row) VALUES (?, ?, ?, ?) ON CONFLICT (segment) DO UPDATE SET read_to = excluded.read_to, first_row = IFNULL(first_row, excluded.first_row), last_row = IFNULL(excluded.last_row, last_row)",
  );
  const empty = db.prepare(
    "DELETE FROM gateway_segments WHERE segment < (SELECT MAX(segment) FROM gateway_segments) AND NOT EXISTS (SELECT 1 FROM gateway_logs WHERE row_id BETWEEN first_row AND last_row) RETURNING segment",
  );
  const dropUsage = db.prepare("DELETE FROM gateway_usage WHERE hour_ms < ?");
  const usage = createUsage(db);
  const limits = createLimits(db);
  const insertRows: InsertRows = (rows) => insert(rows.flatMap((row) => columns.map(({ name }) => (row[name] ?? null) as Cell)));

  return {
    checkpoint: () => {
      const row = newest.get();
      return row === undefined ? undefined : { segment: Number(row["segment"]), readTo: Number(row["read_to"]) };
    },
    index: ({ segment, columns: names, records, readTo }) => {
      const rows = records.flatMap((record) => (record.cells === null ? [] : [rowOf(names, record, segment)]));
      usage.add(rows);
      const before = Number(lastRow.get()?.["n"]);
      limits.keep(rows, insertRows);
      const after = Number(lastRow.get()?.["n"]);
      remember.run(segment, readTo, after > before ? before + 1 : null, after > before ? after : null);
    },
    takeEmptySegments: () => empty.all().map((row) => Number(row["segment"])),
    deleteUsageBefore: (hourMs) => void dropUsage.run(hourMs),
  };
}

function rowOf(names: readonly string[], { at, head, cells }: ReadRecord, segment: number): Row {
  const row: Record<string, unknown> = { request_kept: head.requestBytes, response_kept: head.responseBytes };
  for (let i = 0; i < names.length; i++) row[names[i] as string] = cells?.[i];
  if (head.requestBytes + head.responseBytes > 0) Object.assign(row, { segment, segment_at: at });
  return row;
}

/** Rows that each gateway keeps at most (`log_management`). */
function createLimits(db: DatabaseSync): { keep(rows: readonly Row[], insert: InsertRows): void } {
  const countOf = db.prepare("SELECT rows FROM gateway_log_counts WHERE account_id = ? AND gateway_id = ?");
  const setCount = db.prepare(
    "INSERT INTO gateway_log_counts (account_id, gateway_id, rows) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET rows = excluded.rows",
  );
  const recount = db.prepare("SELECT COUNT(*) AS rows FROM gateway_logs WHERE account_id = ? AND gateway_id = ?");
  const dropOldest = db.prepare(
    "DELETE FROM gateway_logs WHERE row_id IN (SELECT row_id FROM gateway_logs WHERE account_id = ? AND gateway_id = ? ORDER BY at_ms, row_id LIMIT ?)",
  );
  return {
    keep: (rows, insert) => {
      for (const [key, group] of Map.groupBy(rows, (row) => `${String(row["account_id"])}/${String(row["gateway_id"])}`)) {
        const [account = "", gateway = ""] = key.split("/", 2);
        const count = Number((countOf.get(account, gateway) ?? recount.get(account, gateway))?.["rows"]);
        const wanted = group.filter((row) => row["keep_mode"] !== "none");
        const { keep_mode: mode, keep_rows: max } = wanted.at(-1) ?? {};
        const rowsMax = typeof max === "number" ? max : Infinity;
        const kept = mode === "STOP_INSERTING" ? wanted.slice(0, Math.max(0, rowsMax - count)) : wanted;
        if (kept.length === 0) continue;
        insert(kept);
        setCount.run(account, gateway, count + kept.length);
        const surplus = count + kept.length - rowsMax;
        // The trigger counts what is deleted.
        if (mode === "DELETE_OLDEST" && surplus > 0) dropOldest.run(account, gateway, surplus);
      }
    },
  };
}

/** Names of models come from clients: beyond so many in an hour of a gateway they are counted as one. */
const MODELS_MAX = 500;
const OTHER_MODELS = "(other)";
const HOUR_MS = 3_600_000;

/** Sums of the hour; what is not kept counts too. */
function createUsage(db: DatabaseSync): { add(rows: readonly Row[]): void } {
  const add = db.prepare(
    "INSERT INTO gateway_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, failed = failed + excluded.failed, cached = cached + excluded.cached, tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out, tokens_in_cached = tokens_in_cached + excluded.tokens_in_cached, tokens_out_cached = tokens_out_cached + excluded.tokens_out_cached, cost = cost + excluded.cost, duration_ms = duration_ms + excluded.duration_ms",
  );
  const known = db.prepare(
    "SELECT 1 FROM gateway_usage WHERE account_id = ? AND gateway_id = ? AND hour_ms = ? AND provider = ? AND model = ?",
  );
  const models = db.prepare("SELECT COUNT(*) AS n FROM gateway_usage WHERE account_id = ? AND gateway_id = ? AND hour_ms = ?");
  return {
    add: (rows) => {
      const groups = Map.groupBy(rows, (row) => JSON.stringify([...scopeOf(row), row["provider"], row["model"]]));
      for (const [key, group] of groups) {
        const [account, gateway, hour, provider, model] = JSON.parse(key) as [string, string, number, string, string];
        const isNew = known.get(account, gateway, hour, provider, model) === undefined;
        const isOver = isNew && Number(models.get(account, gateway, hour)?.["n"]) >= MODELS_MAX;
        const cached = group.filter((row) => row["cached"] === 1);
        add.run(
          account,
          gateway,
          hour,
          provider,
          isOver ? OTHER_MODELS : model,
          group.length,
          group.filter((row) => row["success"] !== 1).length,
          cached.length,
          sum(group, "tokens_in"),
          sum(group, "tokens_out"),
          sum(cached, "tokens_in"),
          sum(cached, "tokens_out"),
          sum(group, "cost"),
          sum(group, "duration_ms"),
        );
      }
    },
  };
}

const scopeOf = (row: Row): readonly unknown[] => [
  row["account_id"],
  row["gateway_id"],
  Math.floor(Number(row["at_ms"]) / HOUR_MS) * HOUR_MS,
];

const sum = (rows: readonly Row[], column: keyof EventTables["gateway_logs"]): number =>
  rows.reduce((total, row) => total + Number(row[column] ?? 0), 0);
