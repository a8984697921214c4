import type { EventTable, EventTables } from "./rows.ts";

type SqlType = "TEXT" | "INTEGER" | "REAL";

/** Form of a column's value between threads and in the file: booleans as 0 and 1, `json` as text. */
export interface Column<T extends EventTable = EventTable> {
  readonly name: keyof EventTables[T] & string;
  readonly sql: SqlType;
  readonly form: "plain" | "boolean" | "json";
  readonly nullable: boolean;
  /** The facet that contains the text; null if the row itself does. */
  readonly facet: FacetName | null;
}

/**
 * Texts that often occur together. The file stores each combination once, in the table `facet_NAME`, and a row has its
 * number: a row is a third as long, takes half the time to write, and is found and counted by numbers.
 */
export const EVENT_FACETS = {
  site: ["account_id", "zone_id"],
  host: ["host"],
  agent: ["user_agent"],
  request_kind: ["method", "scheme", "http_version", "tls_version", "content_type", "cache_status", "country", "edge_error"],
  event_kind: ["method", "scheme", "country"],
  rule: ["ruleset_id", "rule_id", "deployed_by", "rule_description", "phase", "action", "service"],
  question: ["query_type", "response_code", "protocol"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The column of each facet that distinguishes the most combinations. */
export const DICTIONARY_LEADS: Readonly<Record<FacetName, string>> = {
  site: "zone_id",
  host: "host",
  agent: "user_agent",
  request_kind: "content_type",
  event_kind: "country",
  rule: "rule_id",
  question: "query_type",
};

/** Replaces texts for which no room is left. */
export const OTHER_TEXT = "[other]";

/**
 * Columns that visitors can fill with any text, by facet: once a facet is full, new combinations have `OTHER_TEXT` there.
 * Names that tenants create, such as sites and rules, are limited elsewhere.
 */
export const VISITORS_COLUMNS: Readonly<Partial<Record<FacetName, readonly string[]>>> = {
  host: ["host"],
  agent: ["user_agent"],
  request_kind: ["method", "content_type"],
  event_kind: ["method"],
  question: ["query_type"],
};

/** The number of the site whose row introduced a name that visitors may have made up; 0 in a file from before it was recorded. */
export const OWNER_COLUMN = "site INTEGER NOT NULL DEFAULT 0";

export type FacetName = keyof typeof EVENT_FACETS;
export const FACET_NAMES = Object.keys(EVENT_FACETS) as readonly FacetName[];
export const facetTable = (name: FacetName): string => `facet_${name}`;
export const facetColumns = (name: FacetName): readonly string[] => EVENT_FACETS[name];

export interface TableSchema<T extends EventTable = EventTable> {
  readonly name: T;
  /** Columns of the row as readers see it. */
  readonly columns: readonly Column<T>[];
  readonly facets: readonly FacetName[];
  /** Columns of each index as stored in the file, besides the row id. */
  readonly indexes: readonly (readonly string[])[];
}

type Sql = "text" | "integer" | "real" | "boolean" | "json" | "integer?" | "real?";

/** The compiler checks that every field of the row is listed. */
function table<T extends EventTable>(
  name: T,
  columns: { readonly [K in keyof Required<EventTables[T]> & string]: Sql },
  { indexes, facets = [] }: Partial<Pick<TableSchema<T>, "facets">> & Pick<TableSchema<T>, "indexes">,
): TableSchema<T> {
  const entries = Object.entries(columns) as [keyof EventTables[T] & string, Sql][];
  const facetOf = (column: string): FacetName | null => facets.find((facet) => facetColumns(facet).includes(column)) ?? null;
  return { name, columns: entries.map(([column, kind]) => ({ name: column, ...FORMS[kind], facet: facetOf(column) })), facets, indexes };
}

const FORMS: Readonly<Record<Sql, Omit<Column, "name" | "facet">>> = {
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
      http_version: "text",
      tls_version: "text",
      content_type: "text",
      cache_status: "text",
      country: "text",
      edge_error: "text",
      edge_error_name: "text",
    },
    { facets: ["site", "host", "agent", "request_kind"], indexes: [["site", "at_ms"]] },
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
      country: "text",
    },
    {
      facets: ["site", "host", "agent", "event_kind", "rule"],
      indexes: [["site", "at_ms"]],
    },
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
      guardrail_action: "text",
      guardrail_findings: "text",
      feedback: "integer?",
      score: "real?",
      segment: "integer?",
      segment_at: "integer?",
      request_kept: "integer",
      response_kept: "integer",
    },
    { indexes: [["account_id", "gateway_id", "at_ms"], ["id"]] },
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
    { facets: ["site", "question"], indexes: [["site", "at_ms"]] },
  ),
};

export const EVENT_TABLES = Object.keys(EVENT_SCHEMA) as readonly EventTable[];

/**
 * The value of `PRAGMA user_version`. A file of version 1 is migrated (migrate-v1.ts), one of version 2 gets its missing
 * block tables, one of any other version is refused. An additional column needs no new version, unless it belongs to a
 * facet: the writer adds it to a file that lacks it, and older rows have its zero ('' or 0, null if it may be null).
 */
export const EVENT_SCHEMA_VERSION = 3;
export const VERSION_WITHOUT_BLOCKS = 2;

/** A column as stored in the file: a facet's number in place of its first text, or a column of the row itself. */
export type StoredColumn = { readonly facet: FacetName; readonly name: FacetName } | OwnColumn;
/** A column whose cells are stored in the row itself. */
type OwnColumn = Column & { readonly facet: null };

/** In the order of the row's columns. */
export const storedColumns = (table: EventTable): readonly StoredColumn[] => STORED_COLUMNS[table];

const STORED_COLUMNS = Object.fromEntries(
  Object.values(EVENT_SCHEMA).map(({ name, columns }): [EventTable, readonly StoredColumn[]] => {
    const seen = new Set<FacetName>();
    const stored = (columns as readonly Column[]).flatMap((column): StoredColumn[] => {
      const { facet } = column;
      if (facet === null) return [column as StoredColumn];
      if (seen.has(facet)) return [];
      seen.add(facet);
      return [{ facet, name: facet }];
    });
    return [name, stored];
  }),
) as unknown as Readonly<Record<EventTable, readonly StoredColumn[]>>;

const ownColumns = (table: EventTable, isText: boolean): readonly OwnColumn[] =>
  storedColumns(table).filter((column): column is OwnColumn => column.facet === null && (column.sql === "TEXT") === isText);

/** The row's stored columns in the order of packed rows: text columns, and number columns. */
export const textColumns = (table: EventTable): readonly OwnColumn[] => ownColumns(table, true);
export const numberColumns = (table: EventTable): readonly OwnColumn[] => ownColumns(table, false);

/** The columns under their common type. */
export const columnsOf = (table: EventTable): readonly Column[] => EVENT_SCHEMA[table].columns as readonly Column[];

/** Statements that create missing tables, and then missing indexes; running them again changes nothing. */
export const tableStatements = (): readonly string[] => [
  ...FACET_NAMES.map((name) => {
    const names = facetColumns(name);
    const columns = names.map((column) => `${column} TEXT NOT NULL`).join(", ");
    const owner = name in VISITORS_COLUMNS ? `, ${OWNER_COLUMN}` : "";
    return `CREATE TABLE IF NOT EXISTS ${facetTable(name)} (id INTEGER PRIMARY KEY, ${columns}, used_day INTEGER NOT NULL${owner}, UNIQUE (${names.join(", ")})) STRICT`;
  }),
  ...EVENT_TABLES.map(
    (name) => `CREATE TABLE IF NOT EXISTS ${name} (row_id INTEGER PRIMARY KEY, ${storedColumns(name).map(columnSql).join(", ")}) STRICT`,
  ),
];

export const indexStatements = (): readonly string[] =>
  EVENT_TABLES.flatMap((name) =>
    EVENT_SCHEMA[name].indexes.map((parts) => `CREATE INDEX IF NOT EXISTS ${name}_${parts.join("_")} ON ${name} (${parts.join(", ")})`),
  );

export const columnSql = (column: StoredColumn): string =>
  column.facet === null ? `${column.name} ${column.sql}${column.nullable ? "" : " NOT NULL"}` : `${column.name} INTEGER NOT NULL`;

/** A value as sent between threads and stored in the file. */
export type Cell = string | number | null;

/** A row from the columns of a query's result; other columns are left out. */
export function decodeRow<T extends EventTable>(table: T, cells: Readonly<Record<string, unknown>>): EventTables[T] {
  const row: Record<string, unknown> = {};
  for (const { name, form } of columnsOf(table)) {
    const cell = cells[name];
    if (cell === undefined) continue;
    row[name] = form === "boolean" ? cell === 1 : form === "json" ? (cell === "" ? null : JSON.parse(String(cell))) : cell;
  }
  return row as unknown as EventTables[T];
}

/** Owner of the row that introduced a name. */
export interface NameOwner {
  /** Number of its site in the file; 0 for names without an owner. */
  readonly site: number;
  readonly account: string;
}
