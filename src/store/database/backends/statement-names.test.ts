import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseTest } from "../../../../test/support/store.ts";
import { createPostgres } from "./postgres.ts";
import { createStatementNames } from "./statement-names.ts";

test("statements get a name when they are asked often, and the number of names is bounded", () => {
  const nameOf = createStatementNames();
  const asked = (sql: string, times: number): readonly (string | undefined)[] => Array.from({ length: times }, () => nameOf(sql));
  assert.deepEqual(asked("SELECT a", 6), [undefined, undefined, undefined, undefined, "sv0", "sv0"]);
  assert.deepEqual(asked("SELECT * FROM a", 6).at(-1), undefined, "a migration adds columns");
  assert.deepEqual(asked(`SELECT ${"a".repeat(5_000)}`, 6).at(-1), undefined, "an import");
  // Those that are asked once push nothing out.
  for (let i = 0; i < 2_000; i++) nameOf(`SELECT once ${i}`);
  const names = new Set(Array.from({ length: 500 }, (_, i) => asked(`SELECT often ${i}`, 5).at(-1)));
  assert.equal(names.size, 200, "199 more names, and none for the others");
  assert.equal(nameOf("SELECT a"), "sv0");
});

databaseTest("a connection has the server parse a frequent statement once, and goes on after one failed", async (url, dialect) => {
  if (dialect === "sqlite") return;
  const server = createPostgres(url);
  const session = await server.connect({ statementTimeoutMs: 10_000 });
  try {
    await session.query("CREATE TABLE counted (id bigint PRIMARY KEY)");
    const insert = "INSERT INTO counted (id) VALUES ($1)";
    const count = (): Promise<unknown> => session.query("SELECT count(id) AS count FROM counted").then(({ rows }) => rows[0]?.["count"]);
    for (let i = 0; i < 4; i++) await session.query(insert, [i]);
    // The one that gets the name fails, together with those that are already sent.
    await assert.rejects(
      session.together!([{ sql: "BEGIN" }, { sql: insert, parameters: [0] }, { sql: insert, parameters: [4] }]),
      /duplicate/,
    );
    await session.query("ROLLBACK");
    await session.together!([5, 6, 7].map((id) => ({ sql: insert, parameters: [id] })));
    assert.equal(await count(), 7);
    const { rows } = await session.query("SELECT statement FROM pg_prepared_statements WHERE name <> ''");
    assert.deepEqual(rows, [{ statement: insert }]);
  } finally {
    await session.close();
    await server.close();
  }
});
