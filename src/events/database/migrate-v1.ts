import { existsSync, renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { PackedRows } from "#events/rows/packed-rows.ts";
import { RowPacker } from "#events/rows/row-packer.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { decodeRow, EVENT_TABLES } from "#events/rows/schema.ts";

/** Number of the newest rows of each table that are migrated: more would delay the start. The old file keeps them all. */
const CARRIED_ROWS_MAX = 1_000_000;
const ROWS_AT_ONCE = 5_000;

/**
 * Migrates a database of version 1, whose rows contained all their texts, into the newest form: `write` makes a database
 * in a file beside it, which then takes its place. The old file stays as `….version-1-TIME` until the operator deletes
 * it. An interrupted start begins again.
 */
export function carryOver(path: string, nowMs: () => number, write: (to: string, tables: Iterable<PackedRows>) => void): void {
  if (!existsSync(path)) return;
  const old = new DatabaseSync(path);
  try {
    if (old.prepare("PRAGMA user_version").get()?.["user_version"] !== 1) return;
    const to = `${path}.carried`;
    for (const part of PARTS) rmSync(to + part, { force: true });
    write(to, rowsOf(old));
    // The log's content must be in the file before the file is moved.
    old.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    old.close();
  }
  const aside = `${path}.version-1-${nowMs()}`;
  for (const part of PARTS) if (existsSync(path + part)) renameSync(path + part, aside + part);
  renameSync(`${path}.carried`, path);
}

const PARTS = ["", "-wal", "-shm"];

function* rowsOf(old: DatabaseSync): Generator<PackedRows> {
  const tables = new Set(
    old
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map((row) => row["name"]),
  );
  for (const table of EVENT_TABLES) {
    // Gateway logs from segments are read from the segments again.
    const isElsewhere = table === "gateway_logs" && tables.has("gateway_segments");
    if (tables.has(table) && !isElsewhere) yield* batches(old, table);
  }
}

function* batches(old: DatabaseSync, table: EventTable): Generator<PackedRows> {
  const packer = new RowPacker(table);
  const newest = old.prepare(`SELECT * FROM ${table} WHERE row_id > (SELECT MAX(row_id) FROM ${table}) - ? ORDER BY row_id`);
  for (const cells of newest.iterate(CARRIED_ROWS_MAX)) {
    packer.push(decodeRow(table, cells));
    if (packer.rows === ROWS_AT_ONCE) yield packer.take();
  }
  if (packer.rows > 0) yield packer.take();
}
