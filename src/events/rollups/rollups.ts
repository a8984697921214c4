import type { DatabaseSync } from "node:sqlite";
import { blockTable, hasBlocks } from "#events/blocks/block-tables.ts";
import type { NumberedRows } from "#events/rows/packed-rows.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { createCountedNames } from "./cardinality-limit.ts";
import { valueStatements } from "./values.ts";
import { EVENT_SCHEMA, type FacetName, numberColumns, VISITORS_COLUMNS } from "#events/rows/schema.ts";

/**
 * Rows counted by minute and by hour as they are written, in the same transaction. Charts and alerts read these instead
 * of millions of rows, and they are kept after the rows are deleted.
 */
export interface Rollup {
  readonly table: EventTable;
  /** Columns that distinguish rows, besides their time. */
  readonly facets: readonly FacetName[];
  readonly columns: readonly string[];
  /** Column with the weight of each row; 1 without a column. */
  readonly weight: string | null;
  /** Columns that are summed, each row times its weight. */
  readonly sums: readonly string[];
}

export const ROLLUPS: readonly Rollup[] = [
  {
    table: "requests",
    facets: ["site", "request_kind"],
    columns: ["status"],
    weight: null,
    sums: ["bytes_in", "bytes_out", "duration_ms"],
  },
  { table: "security_events", facets: ["site", "rule", "event_kind"], columns: [], weight: null, sums: [] },
  {
    table: "dns_queries",
    facets: ["site", "question"],
    columns: ["ip_version"],
    weight: "sample_interval",
    sums: ["query_bytes", "response_bytes"],
  },
];

/** The intervals that are counted, longest first: a query takes whole hours, the minutes beside them, and rows at its ends. */
export const ROLLUP_LEVELS = [
  { name: "hours", ms: 3_600_000 },
  { name: "minutes", ms: 60_000 },
] as const;
export type RollupLevel = (typeof ROLLUP_LEVELS)[number];

export const rollupTable = ({ table }: Pick<Rollup, "table">, level: RollupLevel): string => `${table}_${level.name}`;
export const rollupOf = (table: EventTable): Rollup | undefined => ROLLUPS.find((rollup) => rollup.table === table);
const keysOf = ({ facets, columns }: Rollup): readonly string[] => [...facets, ...columns];

/**
 * `since_ms` of `rollups`: earlier rows were written by a version that did not count them. The first key is the site,
 * because every query names sites.
 */
export const rollupStatements = (): readonly string[] => [
  "CREATE TABLE IF NOT EXISTS rollups (name TEXT PRIMARY KEY, since_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  ...ROLLUPS.flatMap((rollup) =>
    ROLLUP_LEVELS.flatMap((level) => {
      const [site = "", ...others] = keysOf(rollup);
      const columns = [site, "at_ms", ...others].map((column) => `${column} INTEGER NOT NULL`);
      const sums = rollup.sums.map((column) => `${column} REAL NOT NULL`);
      const key = [site, "at_ms", ...others].join(", ");
      const name = rollupTable(rollup, level);
      const newest = newestOf(rollup.table);
      return [
        `INSERT OR IGNORE INTO rollups SELECT '${name}', (SELECT IFNULL(MAX(ms) + 1, 0) FROM (${newest}))`,
        `CREATE TABLE IF NOT EXISTS ${name} (${[...columns, "rows INTEGER NOT NULL", ...sums].join(", ")}, PRIMARY KEY (${key})) STRICT, WITHOUT ROWID`,
        `CREATE INDEX IF NOT EXISTS ${name}_at_ms ON ${name} (at_ms)`,
      ];
    }),
  ),
  ...valueStatements(newestOf("security_events")),
];

/** Times of the newest rows. */
const newestOf = (table: EventTable): string =>
  `SELECT MAX(at_ms) AS ms FROM ${table}${hasBlocks(table) ? ` UNION ALL SELECT MAX(to_ms) FROM ${blockTable(table)}` : ""}`;

/** Counts the rows of several batches. */
export type RollupWriter = (batches: readonly NumberedRows[]) => void;

/** The number of the combination that replaces another one if visitors have made up too many. */
type OtherNumber = (facet: FacetName, id: number) => number;

export function createRollupWriter(db: DatabaseSync, rollup: Rollup, otherOf: OtherNumber): RollupWriter {
  const numbers = numberColumns(rollup.table);
  const position = (column: string): number => numbers.findIndex(({ name }) => name === column);
  const facets = rollup.facets.map((facet) => EVENT_SCHEMA[rollup.table].facets.indexOf(facet));
  const time = position("at_ms");
  const columns = rollup.columns.map(position);
  const sums = rollup.sums.map(position);
  const weight = rollup.weight === null ? -1 : position(rollup.weight);
  const levels = ROLLUP_LEVELS.map((level) => ({ level, add: createAdder(db, rollup, level, otherOf) }));

  const countInto = (minutes: Map<string, number[]>, batch: NumberedRows): void => {
    const times = batch.numbers[time]!;
    const keys = [...facets.map((facet) => batch.facets[facet]!.combinations), ...columns.map((column) => batch.numbers[column]!)];
    const added = sums.map((column) => batch.numbers[column]!);
    const weights = batch.numbers[weight];
    const first = keys.length + 1;
    let group: number[] = [];
    let minute = -Infinity;
    for (let row = 0; row < batch.rows; row++) {
      // Adjacent rows are mostly alike.
      if (!(times[row]! >= minute && times[row]! < minute + MINUTE_MS) || !isAsBefore(keys, row)) {
        minute = Math.floor(times[row]! / MINUTE_MS) * MINUTE_MS;
        group = groupOf(minutes, batch, keys, minute, row);
      }
      const count = weights === undefined ? 1 : weights[row]!;
      group[first]! += count;
      for (let i = 0; i < added.length; i++) group[first + 1 + i]! += added[i]![row]! * count;
    }
  };

  const groupOf = (minutes: Map<string, number[]>, batch: NumberedRows, keys: readonly Column[], minute: number, row: number): number[] => {
    const values = [minute, ...keys.map((column, i) => (i < facets.length ? batch.ids[facets[i]!]![column[row]!]! : column[row]!))];
    const key = values.join(",");
    let group = minutes.get(key);
    if (group === undefined) minutes.set(key, (group = [...values, 0, ...sums.map(() => 0)]));
    return group;
  };

  return (batches) => {
    const minutes = new Map<string, number[]>();
    for (const batch of batches) countInto(minutes, batch);
    const keys = facets.length + columns.length;
    for (const { level, add } of levels) for (const group of atLevel(minutes.values(), level, keys)) add(group);
  };
}

/** Adds a group: its time, its keys, and its sums. */
function createAdder(db: DatabaseSync, rollup: Rollup, level: RollupLevel, otherOf: OtherNumber): (group: readonly number[]) => void {
  const facet = rollup.facets.find((name) => name in VISITORS_COLUMNS)!;
  const [siteAt, facetAt] = [1 + rollup.facets.indexOf("site"), 1 + rollup.facets.indexOf(facet)];
  const keys = 1 + keysOf(rollup).length;
  const change = db.prepare(updateSql(rollup, level));
  const begin = db.prepare(upsertSql(rollup, level));
  const names = createCountedNames(db, rollupTable(rollup, level), facet);
  return (group) => {
    if (Number(change.run(...group.slice(keys), ...group.slice(0, keys)).changes) > 0) return;
    const combination = group[facetAt]!;
    if (names.mayBegin(group[siteAt]!, group[0]!, combination)) begin.run(...group);
    else begin.run(...group.with(facetAt, otherOf(facet, combination)));
  };
}

type Column = Uint32Array | Float64Array;

function isAsBefore(columns: readonly Column[], row: number): boolean {
  for (let i = 0; i < columns.length; i++) if (columns[i]![row] !== columns[i]![row - 1]) return false;
  return true;
}

const MINUTE_MS = 60_000;

/** Groups of minutes, summed into those of the level. */
function atLevel(minutes: Iterable<readonly number[]>, level: RollupLevel, keys: number): Iterable<readonly number[]> {
  if (level.ms === MINUTE_MS) return minutes;
  const groups = new Map<string, number[]>();
  for (const [minute = 0, ...rest] of minutes) {
    const at = Math.floor(minute / level.ms) * level.ms;
    const key = [at, ...rest.slice(0, keys)].join(",");
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [at, ...rest]);
    else for (let i = keys; i < rest.length; i++) known[i + 1]! += rest[i]!;
  }
  return groups.values();
}

function updateSql(rollup: Rollup, level: RollupLevel): string {
  const sums = ["rows", ...rollup.sums].map((column) => `${column} = ${column} + ?`);
  const key = ["at_ms", ...keysOf(rollup)].map((column) => `${column} = ?`);
  return `UPDATE ${rollupTable(rollup, level)} SET ${sums.join(", ")} WHERE ${key.join(" AND ")}`;
}

function upsertSql(rollup: Rollup, level: RollupLevel): string {
  const values = ["rows", ...rollup.sums];
  const columns = ["at_ms", ...keysOf(rollup), ...values];
  const added = values.map((column) => `${column} = ${column} + excluded.${column}`);
  const name = rollupTable(rollup, level);
  return `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")}) ON CONFLICT DO UPDATE SET ${added.join(", ")}`;
}
