import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { type OwnPostgres, startPostgres, type TestPostgres } from "./postgres.ts";
import { toolOrSkip } from "./tools.ts";

const TABLES = "CREATE TABLE parents (id int PRIMARY KEY); CREATE TABLE children (parent_id int NOT NULL REFERENCES parents, note text)";

const query = async (url: string, text: string): Promise<readonly object[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows ?? [];
  } finally {
    await client.end();
  }
};

const prepare = async (url: string): Promise<void> => {
  await query(url, `${TABLES}; INSERT INTO parents VALUES (1), (2); INSERT INTO children VALUES (2, 'first')`);
};

/** A copy, changed by the text, taken back, and the next one that a test gets. */
async function nextCopy(server: TestPostgres, change: string): Promise<{ isReused: boolean; url: string }> {
  const url = await server.copyDatabase(prepare);
  await query(url, change);
  await server.dropDatabase(url);
  const next = await server.copyDatabase(prepare);
  return { isReused: next === url, url: next };
}

test("copies of a prepared database", { skip: toolOrSkip("postgres") }, async (t) => {
  const server: OwnPostgres = startPostgres();
  t.after(() => server.stop());
  const rows = async (url: string): Promise<unknown> => [
    await query(url, "SELECT id FROM parents ORDER BY id"),
    await query(url, "SELECT parent_id, note FROM children"),
  ];
  const first = [[{ id: 1 }, { id: 2 }], [{ parent_id: 2, note: "first" }]];

  await t.test("a returned copy has its original rows again, including references", async () => {
    const changes = [
      "INSERT INTO parents VALUES (3); INSERT INTO children VALUES (3, 'new')",
      "DELETE FROM children; DELETE FROM parents",
      "UPDATE children SET note = 'other', parent_id = 1; DELETE FROM parents WHERE id = 2",
    ];
    for (const change of changes) {
      const { isReused, url } = await nextCopy(server, change);
      assert.ok(isReused);
      assert.deepEqual(await rows(url), first);
      await server.dropDatabase(url);
    }
  });

  await t.test("a copy with changed or larger tables is dropped, and the next one is new", async () => {
    const changes = [
      "ALTER TABLE parents ADD COLUMN name text",
      "CREATE INDEX by_note ON children (note)",
      "DROP TABLE children",
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = 7', current_database()); END $$",
      "INSERT INTO children SELECT 1, md5(i::text) || md5((-i)::text) FROM generate_series(1, 150000) AS i",
    ];
    for (const change of changes) {
      const { isReused, url } = await nextCopy(server, change);
      assert.ok(!isReused, change);
      assert.deepEqual(await rows(url), first);
      await server.dropDatabase(url);
    }
  });

  await t.test("a copy with an open connection is dropped, and the next one is new", async () => {
    const url = await server.copyDatabase(prepare);
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    await client.connect();
    await client.query("BEGIN; DELETE FROM children; DELETE FROM parents");
    await server.dropDatabase(url);
    await assert.rejects(client.query("COMMIT"));
    const next = await server.copyDatabase(prepare);
    assert.notEqual(next, url);
    assert.deepEqual(await rows(next), first);
  });
});
