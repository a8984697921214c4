import type { DatabaseSync } from "node:sqlite";
import { BLOCK_TABLES, blockSitesTable } from "#events/blocks/block-tables.ts";
import { EVENT_TABLES, EVENT_SCHEMA, textColumns } from "#events/rows/schema.ts";
import type { EventTable } from "#events/rows/rows.ts";

/** Approximate bytes of an account in one table, for one site or gateway. */
export interface TenantUsage {
  readonly table: EventTable;
  readonly account: string;
  /** Values of the table's place columns. */
  readonly place: readonly (string | number)[];
  bytes: number;
}

/** Columns that identify a row's owner; an index begins with these and continues with time. */
export const ownerColumns = (table: EventTable): readonly string[] =>
  EVENT_SCHEMA[table].facets.includes("site") ? ["site"] : ["account_id", "gateway_id"];

/** Bytes of a row without its texts. */
const ROW_BYTES = 100;
/** Number of the newest rows that are measured for the length of a row's texts. */
const SAMPLE_ROWS = 16;
/** With fewer rows the length does not matter. */
const SAMPLED_ROWS_MIN = 64;
const USUAL_ROW_BYTES = 250;
/** Used for an older file, whose blocks have no byte counts per site. */
const PACKED_ROW_BYTES = 60;

/** Scans an index of every table: a tenth of a second for a million rows. */
export function readTenantUsage(db: DatabaseSync): TenantUsage[] {
  const accounts = new Map(
    db
      .prepare("SELECT id, account_id FROM facet_site")
      .all()
      .map((row) => [Number(row["id"]), String(row["account_id"])]),
  );
  const accountOf = (place: string | number): string => (typeof place === "number" ? (accounts.get(place) ?? "") : place);
  const holdings = new Map<string, TenantUsage>();
  const add = (table: EventTable, place: readonly (string | number)[], bytes: number): void => {
    const key = JSON.stringify([table, ...place]);
    const known = holdings.get(key);
    if (known !== undefined) known.bytes += bytes;
    else holdings.set(key, { table, account: accountOf(place[0] ?? ""), place, bytes });
  };
  for (const table of EVENT_TABLES) {
    const sizeOf = rowSizes(db, table);
    const columns = ownerColumns(table);
    const counts = db.prepare(`SELECT ${columns.join(", ")}, COUNT(*) AS n FROM ${table} GROUP BY ${columns.join(", ")}`).all();
    for (const row of counts) {
      const place = columns.map((column) => row[column] as string | number);
      const rows = Number(row["n"]);
      add(table, place, rows * (rows < SAMPLED_ROWS_MIN ? USUAL_ROW_BYTES : sizeOf(place)));
    }
  }
  for (const table of BLOCK_TABLES)
    for (const row of db
      .prepare(`SELECT site, SUM(IIF(bytes = 0, rows * ${PACKED_ROW_BYTES}, bytes)) AS n FROM ${blockSitesTable(table)} GROUP BY site`)
      .all())
      add(table, [Number(row["site"])], Number(row["n"]));
  return [...holdings.values()];
}

/** Bytes of a row of a place, measured on its newest rows. */
export function rowSizes(db: DatabaseSync, table: EventTable): (place: readonly (string | number)[]) => number {
  const length =
    textColumns(table)
      .map(({ name }) => `IFNULL(LENGTH(${name}), 0)`)
      .join(" + ") || "0";
  const where = ownerColumns(table)
    .map((column) => `${column} = ?`)
    .join(" AND ");
  const sample = db.prepare(
    `SELECT AVG(n) AS n FROM (SELECT ${length} AS n FROM ${table} WHERE ${where} ORDER BY at_ms DESC LIMIT ${SAMPLE_ROWS})`,
  );
  return (place) => ROW_BYTES + Number(sample.get(...place)?.["n"] ?? 0);
}
