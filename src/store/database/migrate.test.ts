import assert from "node:assert/strict";
import { isoMicros, systemClock } from "#kernel/clock.ts";
import { DIALECTS, type DialectName, type Session } from "#store/queries/session.ts";
import { databaseTest } from "../../../test/support/store.ts";
import { type Migration, migrate, MIGRATIONS } from "./migrate.ts";
import { createPostgres } from "./backends/postgres.ts";
import { openSqlite } from "./backends/sqlite.ts";

const table = (version: number): Migration => ({
  version,
  name: `table ${version}`,
  statements: ({ text }) => [`CREATE TABLE made_by_${version} (id ${text})`],
});

const connect = async (url: string, dialect: DialectName): Promise<Session> => {
  if (dialect === "sqlite") return openSqlite(url.slice("sqlite:".length), "migrate");
  const server = createPostgres(url);
  const session = await server.connect({ statementTimeoutMs: 10_000 });
  const close = async (): Promise<void> => {
    await session.close();
    await server.close();
  };
  return { query: session.query, close };
};

databaseTest("migrations with numbers between applied ones run once, and a newer version's database is refused", async (url, dialect) => {
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

databaseTest("timestamps of sensitive data objects that were stored as 1970 get their true values", async (url, dialect) => {
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

databaseTest("zones keep their objects after the migration that lets several accounts claim a name", async (url, dialect) => {
  const session = await connect(url, dialect);
  const upTo = (to: number) => {
    const migrations = MIGRATIONS.filter(({ version }) => version <= to);
    return migrate(session, DIALECTS[dialect], systemClock, migrations);
  };
  const rows = async (sql: string) => (await session.query(sql)).rows;
  const zone = (id: string, account: string, name: string): string =>
    `INSERT INTO zones (id, account_id, name, status, type, paused, plan, name_servers, settings, serial, record_count, vanity_name_servers, created_on, modified_on)
     VALUES ('${id}', '${account}', '${name}', 'active', 'full', 0, 'free', '[]', '{}', 7, 0, '[]', '', '')`;
  try {
    await upTo(36);
    for (const [id, on] of [
      ["second", "2026-02"],
      ["first", "2026-01"],
    ])
      await session.query(
        `INSERT INTO accounts (id, name, type, settings, created_on) VALUES ('${id}', '${id}', 'standard', '{}', '${on}')`,
      );
    await session.query(zone("a", "first", "a.example"));
    await session.query(zone("b", "second", "b.example"));
    await session.query("INSERT INTO zone_holds (zone_id, hold, include_subdomains, modified_on) VALUES ('b', 1, 0, '')");
    await upTo(40);
    assert.deepEqual(await rows("SELECT id, serial, proof, status FROM zones ORDER BY id"), [
      { id: "a", serial: 7, proof: "operator", status: "active" },
      { id: "b", serial: 7, proof: "none", status: "active" },
    ]);
    assert.deepEqual(await rows("SELECT zone_id FROM zone_holds"), [{ zone_id: "b" }]);
    assert.deepEqual(await rows("SELECT zone_id, next_look_ms FROM zone_claims"), [{ zone_id: "b", next_look_ms: 0 }]);
    await assert.rejects(session.query(zone("c", "second", "b.example")), "one account claims a name once");
    await assert.rejects(session.query(zone("c", "first", "b.example")), "a name is active once");
    await session.query(zone("c", "first", "b.example").replace("'active'", "'pending'"));
    await session.query("DELETE FROM zones WHERE id = 'b'");
    assert.deepEqual(await rows("SELECT zone_id FROM zone_holds"), [], "what leans on a zone still goes with it");
    await assert.rejects(session.query(zone("d", "nobody", "d.example")), "references hold again");
  } finally {
    await session.close();
  }
});
