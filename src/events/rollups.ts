import type { DatabaseSync } from "node:sqlite";
import type { EventTable } from "./rows.ts";
import { type Cell, type FacetName, storedColumns } from "./schema.ts";

/**
 * Rows counted by the minute and by the hour as they are written, in the same transaction. Charts and alerts read these
 * instead of millions of rows, and they are kept after the rows have gone.
 */
export interface Rollup {
  readonly table: EventTable;
  /** What rows are told apart by, besides their time. */
  readonly facets: readonly FacetName[];
  readonly columns: readonly string[];
  /** What each row counts for; 1 where no column says. */
  readonly weight: string | null;
  /** Columns that are added up, each row as often as it counts. */
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

/** The lengths of time that are counted, longest first: a query takes whole hours, the minutes beside them, and rows at its ends. */
export const ROLLUP_LEVELS = [
  { name: "hours", ms: 3_600_000 },
  { name: "minutes", ms: 60_000 },
] as const;
export type RollupLevel = (typeof ROLLUP_LEVELS)[number];

export const rollupTable = ({ table }: Pick<Rollup, "table">, level: RollupLevel): string => `${table}_${level.name}`;
export const rollupOf = (table: EventTable): Rollup | undefined => ROLLUPS.find((rollup) => rollup.table === table);
const keysOf = ({ facets, columns }: Rollup): readonly string[] => [...facets, ...columns];

/**
 * `since_ms` of `rollups`: rows before it were written by a version that did not count them. The first key is the site,
 * since every question is about some.
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
      return [
        `INSERT OR IGNORE INTO rollups SELECT '${name}', (SELECT IFNULL(MAX(at_ms) + 1, 0) FROM ${rollup.table})`,
        `CREATE TABLE IF NOT EXISTS ${name} (${[...columns, "rows INTEGER NOT NULL", ...sums].join(", ")}, PRIMARY KEY (${key})) STRICT, WITHOUT ROWID`,
        `CREATE INDEX IF NOT EXISTS ${name}_at_ms ON ${name} (at_ms)`,
      ];
    }),
  ),
];

/** Counts the rows of several batches, in each of which cells follow one another. */
export type RollupWriter = (batches: readonly (readonly Cell[])[]) => void;

export function createRollupWriter(db: DatabaseSync, rollup: Rollup): RollupWriter {
  const names = storedColumns(rollup.table).map(({ name }): string => name);
  const positions = (columns: readonly string[]): readonly number[] => columns.map((column) => names.indexOf(column));
  const time = names.indexOf("at_ms");
  const keys = positions(keysOf(rollup));
  const sums = positions(rollup.sums);
  const weight = rollup.weight === null ? -1 : names.indexOf(rollup.weight);
  const levels = ROLLUP_LEVELS.map((level) => ({ level, add: db.prepare(upsertSql(rollup, level)) }));

  const countInto = (minutes: Map<string, number[]>, cells: readonly Cell[]): void => {
    let last: number[] = [];
    let lastKey = "";
    for (let at = 0; at < cells.length; at += names.length) {
      const minute = Math.floor(Number(cells[at + time]) / MINUTE_MS) * MINUTE_MS;
      let key = `${minute}`;
      for (const position of keys) key += `,${cells[at + position]}`;
      if (key !== lastKey) {
        lastKey = key;
        const known = minutes.get(key);
        if (known === undefined) {
          last = [minute, ...keys.map((position) => Number(cells[at + position])), 0, ...sums.map(() => 0)];
          minutes.set(key, last);
        } else last = known;
      }
      const count = weight < 0 ? 1 : Number(cells[at + weight]);
      const first = keys.length + 1;
      last[first]! += count;
      for (let i = 0; i < sums.length; i++) last[first + 1 + i]! += Number(cells[at + sums[i]!]) * count;
    }
  };

  return (batches) => {
    const minutes = new Map<string, number[]>();
    for (const cells of batches) countInto(minutes, cells);
    for (const { level, add } of levels) for (const group of atLevel(minutes.values(), level, keys.length)) add.run(...group);
  };
}

const MINUTE_MS = 60_000;

/** Groups of minutes, added up to those of the level. */
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

function upsertSql(rollup: Rollup, level: RollupLevel): string {
  const values = ["rows", ...rollup.sums];
  const columns = ["at_ms", ...keysOf(rollup), ...values];
  const added = values.map((column) => `${column} = ${column} + excluded.${column}`);
  const name = rollupTable(rollup, level);
  return `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")}) ON CONFLICT DO UPDATE SET ${added.join(", ")}`;
}
