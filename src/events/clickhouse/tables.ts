import type { EventTable } from "#events/rows/rows.ts";
import { type Column, columnsOf, numberColumns, textColumns, EVENT_SCHEMA, facetColumns } from "#events/rows/schema.ts";

/**
 * The tables in ClickHouse. Rows of gateway logs stay beside their bodies, in the database of control: they are changed and deleted one by one
 * after they are written, which ClickHouse is not made for.
 */
export const CLICKHOUSE_TABLES = ["requests", "security_events", "dns_queries"] as const satisfies readonly EventTable[];
export type ClickHouseTable = (typeof CLICKHOUSE_TABLES)[number];

export const isInClickHouse = (table: EventTable): table is ClickHouseTable => (CLICKHOUSE_TABLES as readonly EventTable[]).includes(table);

/** Other programs may use the same database of the server. */
export const tableName = (table: ClickHouseTable): string => `selvedge_${table}`;

/**
 * The version of the tables, in `selvedge_schema`. Tables of a later version are refused. An additional column needs no new version: it is added to
 * tables that lack it, where older rows have its zero.
 */
export const CLICKHOUSE_VERSION = 1;

export const DAY_MS = 86_400_000;

/** Blocks whose tokens each table knows: one that is sent again within as many is not stored twice. */
const KNOWN_BLOCKS = 10_000;

/** Columns of an inserted row: of combinations, texts, numbers, then those that only these tables have. */
export const insertedColumns = (table: ClickHouseTable): readonly string[] => [
  ...EVENT_SCHEMA[table].facets.flatMap(facetColumns),
  ...textColumns(table).map(({ name }): string => name),
  ...numberColumns(table).map(({ name }): string => name),
  ...OWN_COLUMNS.map(({ name }) => name),
];

/** `node`: the node that wrote the row; empty for processes with a database. `row_id`: see row-ids.ts. */
const OWN_COLUMNS = [
  { name: "node", sql: "LowCardinality(String)" },
  { name: "row_id", sql: "Int64 CODEC(Delta, ZSTD)" },
] as const;

/** Texts that visitors fill as they like would outgrow a dictionary. */
const FREE_TEXTS: ReadonlySet<string> = new Set(["host", "user_agent"]);

/** Columns by which single rows are found in all days. */
const FOUND_BY: Readonly<Record<ClickHouseTable, readonly string[]>> = {
  requests: ["account_id", "ray_id"],
  security_events: ["account_id", "ray_id"],
  dns_queries: ["account_id"],
};

/** Statements that make the tables and add missing columns; running them again changes nothing. */
export const schemaStatements = (): readonly string[] => [
  "CREATE TABLE IF NOT EXISTS selvedge_schema (version UInt32) ENGINE = MergeTree ORDER BY version",
  ...CLICKHOUSE_TABLES.flatMap((table) => [createStatement(table), columnStatement(table)]),
];

function createStatement(table: ClickHouseTable): string {
  const indexes = FOUND_BY[table].map((column) => `INDEX by_${column} ${column} TYPE bloom_filter GRANULARITY 1`);
  const parts = [...definitions(table), "INDEX by_arrival row_id TYPE minmax GRANULARITY 1", ...indexes];
  return `CREATE TABLE IF NOT EXISTS ${tableName(table)} (${parts.join(", ")}) ENGINE = MergeTree PARTITION BY intDiv(at_ms, ${DAY_MS}) ORDER BY (zone_id, at_ms, row_id) SETTINGS non_replicated_deduplication_window = ${KNOWN_BLOCKS}`;
}

const columnStatement = (table: ClickHouseTable): string =>
  `ALTER TABLE ${tableName(table)} ${definitions(table)
    .map((definition) => `ADD COLUMN IF NOT EXISTS ${definition}`)
    .join(", ")}`;

const definitions = (table: ClickHouseTable): readonly string[] => [
  ...columnsOf(table).map((column) => `${column.name} ${sqlType(column)}`),
  ...OWN_COLUMNS.map(({ name, sql }) => `${name} ${sql}`),
];

function sqlType({ name, sql, form, nullable, facet }: Column): string {
  if (name === "at_ms") return "Int64 CODEC(Delta, ZSTD)";
  if (sql === "TEXT") return facet === null || FREE_TEXTS.has(name) ? "String CODEC(ZSTD)" : "LowCardinality(String)";
  if (form === "boolean") return "UInt8";
  const type = sql === "INTEGER" ? "Int64" : "Float64";
  return nullable ? `Nullable(${type})` : type;
}
