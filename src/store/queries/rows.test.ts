import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openSqlite } from "#store/database/backends/sqlite.ts";
import { insertRows } from "./rows.ts";
import { DIALECTS } from "./session.ts";

test("any number of rows is inserted once and in order, by statements of 64, of eight and of what is left", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-rows-"));
  const session = openSqlite(join(directory, "rows.db"), "migrate");
  t.after(async () => {
    await session.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await session.query("CREATE TABLE numbers (a integer, b integer)");
  for (const count of [0, 1, 2, 7, 8, 9, 64, 65, 79, 200]) {
    await session.query("DELETE FROM numbers");
    let statements = 0;
    const counted = { ...session, query: (sql: string, values?: readonly unknown[]) => (statements++, session.query(sql, values)) };
    const rows = Array.from({ length: count }, (_, i) => [i, -i]);
    await insertRows(counted, DIALECTS.sqlite, { table: "numbers", columns: ["a", "b"] }, rows);
    const found = await session.query("SELECT a, b FROM numbers ORDER BY rowid");
    assert.deepEqual(
      found.rows.map(({ a, b }) => [a, b]),
      rows.map(([a, b]) => [a, b === 0 ? 0 : b]),
    );
    assert.equal(statements, Math.floor(count / 64) + Math.floor((count % 64) / 8) + (count % 8 > 0 ? 1 : 0), `${count} rows`);
  }
});
