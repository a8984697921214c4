import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { sql } from "kysely";
import { systemClock } from "#kernel/clock.ts";
import { migrate } from "#store/database/migrate.ts";
import { openSqlite } from "#store/database/backends/sqlite.ts";
import { deleteOwned, OWNED, CHUNK_ROWS } from "./in-chunks.ts";
import { kyselyOver } from "./kysely-over.ts";
import { DIALECTS, type Session } from "./session.ts";
import type { Tables } from "./tables.ts";

/** Rows of each kind that each owner has. */
const ROWS = 3 * CHUNK_ROWS + 1;

async function migrated(t: TestContext): Promise<Session> {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-pieces-"));
  const session = openSqlite(join(directory, "control.db"), "migrate");
  t.after(async () => {
    await session.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await migrate(session, DIALECTS.sqlite, systemClock);
  return session;
}

interface Reference {
  readonly table: string;
  readonly owner: string;
  readonly by: readonly string[];
  readonly cascades: boolean;
}

const names = async (session: Session, text: string): Promise<string[]> => (await session.query(text)).rows.map(({ name }) => String(name));
const keyOf = (session: Session, table: string): Promise<string[]> =>
  names(session, `SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`);
const tablesOf = (session: Session): Promise<string[]> => names(session, "SELECT name FROM sqlite_master WHERE type = 'table'");

async function referencesOf(session: Session, table: string): Promise<Reference[]> {
  const found = new Map<unknown, { table: string; owner: string; by: string[]; cascades: boolean }>();
  const { rows } = await session.query(
    `SELECT id, "table" AS owner, "from" AS column, on_delete FROM pragma_foreign_key_list('${table}') ORDER BY id, seq`,
  );
  for (const { id, owner, column, on_delete } of rows) {
    const known = found.get(id);
    if (known) known.by.push(String(column));
    else found.set(id, { table, owner: String(owner), by: [String(column)], cascades: on_delete === "CASCADE" });
  }
  return [...found.values()];
}

test("every table that a cascade may empty without limit is listed as owned", async (t) => {
  const session = await migrated(t);
  const known = Object.entries(OWNED).flatMap(([owner, owned]) => owned.map(({ table, by }) => `${owner} ${table} ${by.join()}`));
  const found: string[] = [];
  for (const table of await tablesOf(session)) {
    const key = (await keyOf(session, table)).join();
    for (const { owner, by, cascades } of await referencesOf(session, table))
      if (cascades && by.join() !== key) found.push(`${owner} ${table} ${by.join()}`);
  }
  assert.deepEqual(found.toSorted(), known.toSorted());
  for (const { table, key } of Object.values(OWNED).flat()) assert.deepEqual(key, await keyOf(session, table), table);
});

test("each foreign key has an index, so that a deletion scans no table", async (t) => {
  const session = await migrated(t);
  for (const table of await tablesOf(session)) {
    const indexes = [await keyOf(session, table)];
    for (const index of await names(session, `SELECT name FROM pragma_index_list('${table}') WHERE partial = 0`))
      indexes.push(await names(session, `SELECT name FROM pragma_index_info('${index}') ORDER BY seqno`));
    for (const { owner, by } of await referencesOf(session, table))
      assert.ok(
        indexes.some((columns) => by.every((column) => columns.slice(0, by.length).includes(column))),
        `${table} has no index by ${by.join(", ")}, which refers to ${owner}`,
      );
  }
});

/** A row of the table; columns that are not given have its number or text. */
async function insertRow(session: Session, table: string, given: Readonly<Record<string, unknown>>, n: number): Promise<void> {
  const { rows } = await session.query(`SELECT name, type FROM pragma_table_info('${table}')`);
  const values = rows.map(({ name, type }) => given[String(name)] ?? (String(type).toLowerCase() === "integer" ? n : `row${n}`));
  const columns = rows.map(({ name }) => `"${String(name)}"`).join(", ");
  await session.query(`INSERT INTO "${table}" (${columns}) VALUES (${values.map(() => "?").join(", ")})`, values);
}

test("an owner's data is deleted some rows per statement, before the owner", async (t) => {
  const session = await migrated(t);
  // Without cascades, every missing row was deleted explicitly.
  await session.query("PRAGMA foreign_keys = OFF");
  let rows = 0;
  const fill = async (owner: keyof Tables, ids: Readonly<Record<string, unknown>>): Promise<void> => {
    for (const { table, by, of = ["id"] } of OWNED[owner] ?? []) {
      const given = Object.fromEntries(by.map((column, i) => [column, ids[of[i]!]]));
      const first = rows;
      for (let n = 0; n < ROWS; n++) await insertRow(session, table, given, rows++);
      await fill(table, { id: `row${first}` });
    }
  };
  let most = 0;
  const db = kyselyOver(DIALECTS.sqlite, async (text, parameters) => {
    const answer = await session.query(text, parameters);
    most = Math.max(most, answer.touched ?? 0);
    return answer;
  });
  for (const owner of Object.keys(OWNED) as (keyof Tables & string)[]) {
    await session.query("BEGIN");
    const ids = { account_id: "owner's", id: "owner" };
    await fill(owner, ids);
    await insertRow(session, owner, ids, rows++);
    most = 0;
    await deleteOwned(db, owner, sql`id = 'owner'`);
    for (const { table } of OWNED[owner] ?? [])
      for (const below of [table, ...(OWNED[table] ?? []).map((owned) => owned.table)])
        assert.deepEqual((await session.query(`SELECT count(*) AS n FROM "${below}"`)).rows, [{ n: 0 }], `${owner}: ${below}`);
    // A row of a list brings a change of the list's state with it.
    assert.ok(most > 0 && most <= 2 * CHUNK_ROWS, `${owner}: ${most} rows in one statement`);
    await session.query("ROLLBACK");
  }
});
