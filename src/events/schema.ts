import type { EventTable, EventTables } from "./rows.ts";

type SqlType = "TEXT" | "INTEGER" | "REAL";

/** How a column's value crosses threads and lies in the file: booleans as 0 and 1, `json` as text. */
export interface Column<T extends EventTable = EventTable> {
  readonly name: keyof EventTables[T] & string;
  readonly sql: SqlType;
  readonly form: "plain" | "boolean" | "json";
  readonly nullable: boolean;
}

export interface TableSchema<T extends EventTable = EventTable> {
  readonly name: T;
  readonly columns: readonly Column<T>[];
  /** Columns of each index, besides the row id. */
  readonly indexes: readonly (readonly (keyof EventTables[T] & string)[])[];
}

type Sql = "text" | "integer" | "real" | "boolean" | "json" | "integer?" | "real?";

/** The compiler insists that every field of the row is here. */
function table<T extends EventTable>(
  name: T,
  columns: { readonly [K in keyof Required<EventTables[T]> & string]: Sql },
  indexes: TableSchema<T>["indexes"],
): TableSchema<T> {
  const entries = Object.entries(columns) as [keyof EventTables[T] & string, Sql][];
  return { name, columns: entries.map(([column, kind]) => ({ name: column, ...FORMS[kind] })), indexes };
}

const FORMS: Readonly<Record<Sql, Omit<Column, "name">>> = {
  text: { sql: "TEXT", form: "plain", nullable: false },
  integer: { sql: "INTEGER", form: "plain", nullable: false },
  real: { sql: "REAL", form: "plain", nullable: false },
  boolean: { sql: "INTEGER", form: "boolean", nullable: false },
  json: { sql: "TEXT", form: "json", nullable: false },
  "integer?": { sql: "INTEGER", form: "plain", nullable: true },
  "real?": { sql: "REAL", form: "plain", nullable: true },
};

export const EVENT_SCHEMA: { readonly [T in EventTable]: TableSchema<T> } = {
  requests: table(
    "requests",
    {
      ray_id: "text",
      at_ms: "integer",
      account_id: "text",
      zone_id: "text",
      client_ip: "text",
      method: "text",
      scheme: "text",
      host: "text",
      path: "text",
      query: "text",
      user_agent: "text",
      status: "integer",
      origin_status: "integer?",
      bytes_in: "integer",
      bytes_out: "integer",
      duration_ms: "real",
      custom_fields: "json",
    },
    [["zone_id", "at_ms"]],
  ),
  security_events: table(
    "security_events",
    {
      id: "text",
      ray_id: "text",
      at_ms: "integer",
      account_id: "text",
      zone_id: "text",
      ruleset_id: "text",
      rule_id: "text",
      deployed_by: "text",
      rule_description: "text",
      phase: "text",
      action: "text",
      service: "text",
      client_ip: "text",
      method: "text",
      scheme: "text",
      host: "text",
      path: "text",
      query: "text",
      user_agent: "text",
      status: "integer",
      matches: "json",
      scan_limited: "boolean",
    },
    [
      ["zone_id", "at_ms"],
      ["zone_id", "rule_id", "at_ms"],
    ],
  ),
  gateway_logs: table(
    "gateway_logs",
    {
      id: "text",
      at_ms: "integer",
      account_id: "text",
      gateway_id: "text",
      provider: "text",
      model: "text",
      path: "text",
      method: "text",
      status_code: "integer",
      success: "boolean",
      cached: "boolean",
      duration_ms: "real",
      tokens_in: "integer?",
      tokens_out: "integer?",
      cost: "real?",
      step: "integer",
      request_content_type: "text",
      response_content_type: "text",
      request_bytes: "integer",
      response_bytes: "integer",
      event_id: "text",
      metadata: "text",
      model_type: "text",
      request_type: "text",
      user_agent: "text",
      custom_cost: "boolean",
      estimated: "boolean",
      tokens_cache_read: "integer?",
      tokens_cache_write: "integer?",
      tokens_reasoning: "integer?",
      first_byte_ms: "real?",
      authentication: "boolean",
      compatibility_mode: "boolean",
      dlp_action: "text",
      feedback: "integer?",
      score: "real?",
      segment: "integer?",
      segment_at: "integer?",
      request_kept: "integer",
      response_kept: "integer",
    },
    [["account_id", "gateway_id", "at_ms"], ["id"]],
  ),
  dns_queries: table(
    "dns_queries",
    {
      at_ms: "integer",
      account_id: "text",
      zone_id: "text",
      query_name: "text",
      query_type: "text",
      response_code: "text",
      protocol: "text",
      ip_version: "integer",
      source_ip: "text",
      query_bytes: "integer",
      response_bytes: "integer",
      sample_interval: "integer",
    },
    [["zone_id", "at_ms"]],
  ),
};

export const EVENT_TABLES = Object.keys(EVENT_SCHEMA) as readonly EventTable[];

/**
 * What `PRAGMA user_version` holds; the writer refuses a file of another version. A column more needs no new version: the
 * writer adds it to a file that lacks it, and older rows have its zero ('' or 0, null where it may be null).
 */
export const EVENT_SCHEMA_VERSION = 1;

/** Statements that make what is missing of the tables, and then of their indexes; running them again changes nothing. */
export const tableStatements = (): readonly string[] =>
  EVENT_TABLES.map(
    (name) => `CREATE TABLE IF NOT EXISTS ${name} (row_id INTEGER PRIMARY KEY, ${columnsOf(name).map(columnSql).join(", ")}) STRICT`,
  );

export const indexStatements = (): readonly string[] =>
  EVENT_TABLES.flatMap((name) =>
    EVENT_SCHEMA[name].indexes.map((parts) => `CREATE INDEX IF NOT EXISTS ${name}_${parts.join("_")} ON ${name} (${parts.join(", ")})`),
  );

/** The columns under their common type. */
export const columnsOf = (table: EventTable): readonly Column[] => EVENT_SCHEMA[table].columns as readonly Column[];

export const columnSql = ({ name, sql, nullable }: Column): string => `${name} ${sql}${nullable ? "" : " NOT NULL"}`;

/** A value as it crosses threads and lies in the file. */
export type Cell = string | number | null;

export function decodeRow<T extends EventTable>(schema: TableSchema<T>, cells: Readonly<Record<string, unknown>>): EventTables[T] {
  const row: Record<string, unknown> = {};
  for (const { name, form } of schema.columns) {
    const cell = cells[name];
    row[name] = form === "boolean" ? cell === 1 : form === "json" ? (cell === "" ? null : JSON.parse(String(cell))) : cell;
  }
  return row as unknown as EventTables[T];
}
