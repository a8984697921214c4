import assert from "node:assert/strict";
import { systemClock } from "#kernel/clock.ts";
import { DIALECTS } from "#store/session.ts";
import { databaseTest } from "../../test/support/store.ts";
import { type Migration, migrate } from "./migrate.ts";
import { createPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";

const table = (version: number): Migration => ({
  version,
  name: `table ${version}`,
  statements: ({ text }) => [`CREATE TABLE made_by_${version} (id ${text})`],
});

databaseTest("migrations that came between others run once, and a later program's database is refused", async (url, dialect) => {
  const server = dialect === "postgres" ? createPostgres(url) : null;
  const session = server ? await server.connect({ statementTimeoutMs: 10_000 }) : openSqlite(url.slice("sqlite:".length), "write");
  try {
    const run = (...versions: number[]) => migrate(session, DIALECTS[dialect], systemClock, versions.map(table));
    await run(1, 3);
    await run(1, 2, 3);
    await run(1, 2, 3, 4);
    const { rows } = await session.query("SELECT version FROM schema_migrations ORDER BY version");
    assert.deepEqual(
      rows.map(({ version }) => Number(version)),
      [1, 2, 3, 4],
    );
    await assert.rejects(run(1, 2, 3), /the database has schema version 4 and this program knows up to 3/);
  } finally {
    await session.close();
    await server?.close();
  }
});
