import type { DatabaseSync } from "node:sqlite";
import type { ColumnOf } from "#events/rows/rows.ts";
import { type Cell, columnsOf } from "#events/rows/schema.ts";
import type { ReadRecord } from "./reader.ts";
import { FIRST_NODE_SEGMENT } from "./segment.ts";

/**
 * Data about segments in the events database, beside the rows themselves: how far each was read, how many rows a gateway
 * has, and hourly sums of its requests. Running the statements again changes nothing.
 */
export const LOG_TABLES: readonly string[] = [
  "CREATE TABLE IF NOT EXISTS gateway_segments (segment INTEGER PRIMARY KEY, read_to INTEGER NOT NULL, first_row INTEGER, last_row INTEGER) STRICT",
  "CREATE TABLE IF NOT EXISTS gateway_log_counts (account_id TEXT NOT NULL, gateway_id TEXT NOT NULL, rows INTEGER NOT NULL, PRIMARY KEY (account_id, gateway_id)) STRICT, WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS gateway_usage (account_id TEXT NOT NULL, gateway_id TEXT NOT NULL, hour_ms INTEGER NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, requests INTEGER NOT NULL, failed INTEGER NOT NULL, cached INTEGER NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, tokens_in_cached INTEGER NOT NULL, tokens_out_cached INTEGER NOT NULL, cost REAL NOT NULL, duration_ms REAL NOT NULL, PRIMARY KEY (account_id, gateway_id, hour_ms, provider, model)) STRICT, WITHOUT ROWID",
  "CREATE TRIGGER IF NOT EXISTS gateway_logs_deleted AFTER DELETE ON gateway_logs BEGIN UPDATE gateway_log_counts SET rows = rows - 1 WHERE account_id = OLD.account_id AND gateway_id = OLD.gateway_id; END",
];

/** The place where reading continues. */
export interface Checkpoint {
  readonly segment: number;
  readonly readTo: number;
}

export interface LogBatch {
  readonly segment: number;
  /** Names of the cells of the records. */
  readonly columns: readonly string[];
  readonly records: readonly ReadRecord[];
  readonly readTo: number;
}

/** The writer's statements for gateway logs. Every method runs within the caller's transaction. */
export interface LogTables {
  /** Checkpoint of the newest segment that was read; undefined if none was. */
  checkpoint(): Checkpoint | undefined;
  /** Inserts the rows to keep, counts all of them, and stores how far the segment was read: all or nothing. */
  index(batch: LogBatch): void;
  /** Counts rows from other sources; their cells follow one another. */
  count(cells: readonly Cell[]): void;
  /** Segments without remaining rows, except the newest and the newest of nodes; they are forgotten. */
  takeEmptySegments(): readonly number[];
  /** Forgets hours before this one. */
  deleteUsageBefore(hourMs: number): void;
}

/** A row to be inserted, with its cells in the order of the table's columns. */
interface IndexedRow {
  readonly cells: Cell[];
  readonly keepMode: unknown;
  readonly keepRows: unknown;
}

type Insert = (cells: readonly Cell[]) => void;

const COLUMNS = columnsOf("gateway_logs");
const place = (name: ColumnOf<"gateway_logs">): number => COLUMNS.findIndex((column) => column.name === name);
const AT = {
  account: place("account_id"),
  gateway: place("gateway_id"),
  time: place("at_ms"),
  provider: place("provider"),
  model: place("model"),
  success: place("success"),
  cached: place("cached"),
  tokensIn: place("tokens_in"),
  tokensOut: place("tokens_out"),
  cost: place("cost"),
  duration: place("duration_ms"),
  segment: place("segment"),
  segmentAt: place("segment_at"),
  requestKept: place("request_kept"),
  responseKept: place("response_kept"),
};

export function createLogTables(db: DatabaseSync, insert: Insert): LogTables {
  for (const statement of LOG_TABLES) db.exec(statement);
  const newest = db.prepare(
    `SELECT segment, read_to FROM gateway_segments WHERE segment < ${FIRST_NODE_SEGMENT} ORDER BY segment DESC LIMIT 1`,
  );
  const lastRow = db.prepare("SELECT IFNULL(MAX(row_id), 0) AS n FROM gateway_logs");
  const remember = db.prepare(
    "INSERT INTO gateway_segments (segment, read_to, first_row, last_row) VALUES (?, ?, ?, ?) ON CONFLICT (segment) DO UPDATE SET read_to = excluded.read_to, first_row = IFNULL(first_row, excluded.first_row), last_row = IFNULL(excluded.last_row, last_row)",
  );
  const empty = db.prepare(
    `DELETE FROM gateway_segments WHERE segment NOT IN (SELECT MAX(segment) FROM gateway_segments GROUP BY segment < ${FIRST_NODE_SEGMENT}) AND NOT EXISTS (SELECT 1 FROM gateway_logs WHERE row_id BETWEEN first_row AND last_row) RETURNING segment`,
  );
  const dropUsage = db.prepare("DELETE FROM gateway_usage WHERE hour_ms < ?");
  const usage = createUsage(db);
  const limits = createLimits(db);

  return {
    checkpoint: () => {
      const row = newest.get();
      return row === undefined ? undefined : { segment: Number(row["segment"]), readTo: Number(row["read_to"]) };
    },
    index: (batch) => {
      const rows = rowsOf(batch);
      usage.add(rows.map((row) => row.cells));
      const before = Number(lastRow.get()?.["n"]);
      limits.keep(rows, insert);
      const after = Number(lastRow.get()?.["n"]);
      remember.run(batch.segment, batch.readTo, after > before ? before + 1 : null, after > before ? after : null);
    },
    count: (cells) =>
      usage.add(Array.from({ length: cells.length / COLUMNS.length }, (_, i) => cells.slice(i * COLUMNS.length, (i + 1) * COLUMNS.length))),
    takeEmptySegments: () => empty.all().map((row) => Number(row["segment"])),
    deleteUsageBefore: (hourMs) => void dropUsage.run(hourMs),
  };
}

/** A segment of an older version may lack columns, and name some that no longer exist. */
function rowsOf({ segment, columns, records }: LogBatch): readonly IndexedRow[] {
  const places = columns.map((name) => COLUMNS.findIndex((column) => column.name === name));
  const [mode, max] = [columns.indexOf("keep_mode"), columns.indexOf("keep_rows")];
  const blank = COLUMNS.map((column): Cell => (column.nullable ? null : column.sql === "TEXT" ? "" : 0));
  const rows: IndexedRow[] = [];
  for (const { at, head, cells: given } of records) {
    if (given === null) continue;
    const cells = blank.slice();
    for (let i = 0; i < places.length; i++) {
      const to = places[i] as number;
      if (to >= 0) cells[to] = given[i] as Cell;
    }
    cells[AT.requestKept] = head.requestBytes;
    cells[AT.responseKept] = head.responseBytes;
    if (head.requestBytes + head.responseBytes > 0) {
      cells[AT.segment] = segment;
      cells[AT.segmentAt] = at;
    }
    rows.push({ cells, keepMode: given[mode], keepRows: given[max] });
  }
  return rows;
}

/** Limit of rows that each gateway keeps (`log_management`). */
function createLimits(db: DatabaseSync): { keep(rows: readonly IndexedRow[], insert: Insert): void } {
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
      for (const [key, group] of Map.groupBy(rows, ({ cells }) => `${cells[AT.account]}/${cells[AT.gateway]}`)) {
        const [account = "", gateway = ""] = key.split("/", 2);
        const count = Number((countOf.get(account, gateway) ?? recount.get(account, gateway))?.["rows"]);
        const wanted = group.filter((row) => row.keepMode !== "none");
        const { keepMode, keepRows } = wanted.at(-1) ?? {};
        const rowsMax = typeof keepRows === "number" ? keepRows : Infinity;
        const kept = keepMode === "STOP_INSERTING" ? wanted.slice(0, Math.max(0, rowsMax - count)) : wanted;
        if (kept.length === 0) continue;
        insert(inOneList(kept));
        setCount.run(account, gateway, count + kept.length);
        const surplus = count + kept.length - rowsMax;
        // The trigger counts deleted rows.
        if (keepMode === "DELETE_OLDEST" && surplus > 0) dropOldest.run(account, gateway, surplus);
      }
    },
  };
}

/** Faster than `flatMap`, whose cost every row would pay. */
function inOneList(rows: readonly IndexedRow[]): readonly Cell[] {
  const cells: Cell[] = Array(rows.length * COLUMNS.length);
  let to = 0;
  for (const row of rows) for (let i = 0; i < COLUMNS.length; i++) cells[to++] = row.cells[i]!;
  return cells;
}

/** Names of models come from clients: beyond this number per hour of a gateway they are counted as one. */
const MODELS_MAX = 500;
const OTHER_MODELS = "(other)";
const HOUR_MS = 3_600_000;

/** Summed columns, in the order of the table's columns. */
const SUMS = [
  "requests",
  "failed",
  "cached",
  "tokens_in",
  "tokens_out",
  "tokens_in_cached",
  "tokens_out_cached",
  "cost",
  "duration_ms",
] as const;

/** Providers report token counts and may report any number: larger ones could be neither stored nor read. */
const SUM_MAX = Number.MAX_SAFE_INTEGER;

interface HourSums {
  readonly key: readonly [account: string, gateway: string, hourMs: number, provider: string];
  readonly model: string;
  readonly sums: number[];
}

/** Hourly sums; rows that are not kept count too. */
function createUsage(db: DatabaseSync): { add(rows: readonly (readonly Cell[])[]): void } {
  const changes = SUMS.map((column) => `${column} = MIN(${column} + excluded.${column}, ${SUM_MAX})`).join(", ");
  const add = db.prepare(
    `INSERT INTO gateway_usage VALUES (?, ?, ?, ?, ?${", ?".repeat(SUMS.length)}) ON CONFLICT DO UPDATE SET ${changes}`,
  );
  const known = db.prepare(
    "SELECT 1 FROM gateway_usage WHERE account_id = ? AND gateway_id = ? AND hour_ms = ? AND provider = ? AND model = ?",
  );
  const models = db.prepare("SELECT COUNT(*) AS n FROM gateway_usage WHERE account_id = ? AND gateway_id = ? AND hour_ms = ?");
  return {
    add: (rows) => {
      for (const { key, model, sums } of hourSums(rows)) {
        const [account, gateway, hourMs] = key;
        const isNew = known.get(...key, model) === undefined;
        const isOver = isNew && Number(models.get(account, gateway, hourMs)?.["n"]) >= MODELS_MAX;
        add.run(...key, isOver ? OTHER_MODELS : model, ...sums.map((sum) => Math.min(sum, SUM_MAX)));
      }
    },
  };
}

function hourSums(rows: readonly (readonly Cell[])[]): Iterable<HourSums> {
  const found = new Map<string, HourSums>();
  let hour: HourSums | undefined;
  for (const cells of rows) {
    const hourMs = Math.floor(Number(cells[AT.time]) / HOUR_MS) * HOUR_MS;
    // Adjacent rows are mostly alike.
    if (hour === undefined || !isOfHour(hour, hourMs, cells)) {
      const name = `${cells[AT.account]} ${cells[AT.gateway]} ${hourMs} ${cells[AT.provider]} ${cells[AT.model]}`;
      hour = found.get(name);
      if (hour === undefined) {
        const key = [String(cells[AT.account]), String(cells[AT.gateway]), hourMs, String(cells[AT.provider])] as const;
        found.set(name, (hour = { key, model: String(cells[AT.model]), sums: SUMS.map(() => 0) }));
      }
    }
    addTo(hour.sums, cells);
  }
  return found.values();
}

const isOfHour = ({ key, model }: HourSums, hourMs: number, cells: readonly Cell[]): boolean =>
  key[2] === hourMs &&
  model === cells[AT.model] &&
  key[1] === cells[AT.gateway] &&
  key[0] === cells[AT.account] &&
  key[3] === cells[AT.provider];

/** In the order of SUMS. */
function addTo(sums: number[], cells: readonly Cell[]): void {
  const [tokensIn, tokensOut] = [Number(cells[AT.tokensIn]), Number(cells[AT.tokensOut])];
  const cached = cells[AT.cached] === 1 ? 1 : 0;
  sums[0]! += 1;
  sums[1]! += cells[AT.success] === 1 ? 0 : 1;
  sums[2]! += cached;
  sums[3]! += tokensIn;
  sums[4]! += tokensOut;
  sums[5]! += cached * tokensIn;
  sums[6]! += cached * tokensOut;
  sums[7]! += Number(cells[AT.cost]);
  sums[8]! += Number(cells[AT.duration]);
}
