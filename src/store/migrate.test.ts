import assert from "node:assert/strict";
import { isoMicros, systemClock } from "#kernel/clock.ts";
import { DIALECTS, type DialectName, type Session } from "#store/session.ts";
import { databaseTest } from "../../test/support/store.ts";
import { type Migration, migrate, MIGRATIONS } from "./migrate.ts";
import { createPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";

const table = (version: number): Migration => ({
  version,
  name: `table ${version}`,
  statements: ({ text }) => [`CREATE TABLE made_by_${version} (id ${text})`],
});

const connect = async (url: string, dialect: DialectName): Promise<Session> => {
  if (dialect === "sqlite") return openSqlite(url.slice("sqlite:".length), "write");
  const server = createPostgres(url);
  const session = await server.connect({ statementTimeoutMs: 10_000 });
  const close = async (): Promise<void> => {
    await session.close();
    await server.close();
  };
  return { query: session.query, close };
};

databaseTest("migrations that came between others run once, and a later program's database is refused", async (url, dialect) => {
  const session = await connect(url, dialect);
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
  }
});

databaseTest("times of sensitive data objects that were written in 1970 become what they were", async (url, dialect) => {
  const session = await connect(url, dialect);
  try {
    const run = (to: number) =>
      migrate(
        session,
        DIALECTS[dialect],
        systemClock,
        MIGRATIONS.filter(({ version }) => version <= to),
      );
    await run(33);
    if (dialect === "sqlite") await session.query("PRAGMA foreign_keys = OFF");
    else await session.query("SET session_replication_role = replica");
    const times = [1_769_904_007_045, 1_700_000_000_000, 1_767_225_599_999];
    const right = "2026-11-22T10:00:00.123456Z";
    for (const table of ["sensitive_data_objects", "account_sensitive_data_objects"]) {
      const owner = table.startsWith("account") ? "account_id" : "zone_id";
      for (const [index, ms] of times.entries())
        await session.query(
          `INSERT INTO ${table} (id, ${owner}, kind, value, created_on, modified_on) VALUES ('${index}', 'a', 'allowed', '{}', '${isoMicros(ms)}', '${right}')`,
        );
    }
    await run(35);
    for (const table of ["sensitive_data_objects", "account_sensitive_data_objects"]) {
      const { rows } = await session.query(`SELECT created_on, modified_on FROM ${table} ORDER BY id`);
      assert.deepEqual(
        rows.map(({ created_on, modified_on }) => [created_on, modified_on]),
        times.map((ms) => [isoMicros(ms * 1000), right]),
      );
    }
  } finally {
    await session.close();
  }
});
