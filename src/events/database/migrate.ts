import { type DatabaseSync } from "node:sqlite";
import { blockSitesTable, blockStatements, BLOCK_TABLES, siteBytesStatement } from "#events/blocks/block-tables.ts";
import { rollupStatements } from "#events/rollups/rollups.ts";
import {
  columnSql,
  EVENT_SCHEMA_VERSION,
  EVENT_TABLES,
  FACET_NAMES,
  facetTable,
  indexStatements,
  OWNER_COLUMN,
  storedColumns,
  tableStatements,
  VERSION_WITHOUT_BLOCKS,
  VISITORS_COLUMNS,
} from "#events/rows/schema.ts";
import { transaction } from "./transactions.ts";

export function migrate(db: DatabaseSync, path: string): void {
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (![0, VERSION_WITHOUT_BLOCKS, EVENT_SCHEMA_VERSION].includes(version))
    throw new Error(
      `${path} has events of schema version ${version}; this program writes version ${EVENT_SCHEMA_VERSION}. Start the program that made it, or move the file away to begin a new one`,
    );
  transaction(db, () => {
    for (const statement of tableStatements()) db.exec(statement);
    for (const statement of [...missingColumns(db), ...missingOwners(db)]) db.exec(statement);
    for (const statement of [...indexStatements(), ...blockStatements(), ...rollupStatements()]) db.exec(statement);
    for (const table of BLOCK_TABLES) if (!columnsIn(db, blockSitesTable(table)).includes("bytes")) db.exec(siteBytesStatement(table));
    // Otherwise it would be the only write, and a full disk would refuse to open the file.
    if (version !== EVENT_SCHEMA_VERSION) db.exec(`PRAGMA user_version = ${EVENT_SCHEMA_VERSION}`);
  });
}

/** Adds columns that are newer than the file, so that they need no new version: older rows have their zero. */
const missingColumns = (db: DatabaseSync): readonly string[] =>
  EVENT_TABLES.flatMap((table) => {
    const known = columnsIn(db, table);
    return storedColumns(table).flatMap((column) => {
      if (known.includes(column.name)) return [];
      if (column.facet !== null) throw new Error(`a facet of ${table} cannot be added to a file: it needs a new schema version`);
      return [`ALTER TABLE ${table} ADD COLUMN ${columnSql(column)}${column.nullable ? "" : ` DEFAULT ${ZEROS[column.sql]}`}`];
    });
  });

const missingOwners = (db: DatabaseSync): readonly string[] =>
  FACET_NAMES.filter((name) => name in VISITORS_COLUMNS)
    .map(facetTable)
    .flatMap((table) => (columnsIn(db, table).includes("site") ? [] : [`ALTER TABLE ${table} ADD COLUMN ${OWNER_COLUMN}`]));

const columnsIn = (db: DatabaseSync, table: string): readonly string[] =>
  db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map((row) => String(row["name"]));

/** Values of older rows in a new column that may not be null; an empty `json` is read as null. */
const ZEROS = { TEXT: "''", INTEGER: "0", REAL: "0" } as const;
