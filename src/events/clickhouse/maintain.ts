import type { ClickHouse } from "./connection.ts";
import { CLICKHOUSE_TABLES, CLICKHOUSE_VERSION, DAY_MS, schemaStatements, tableName } from "./tables.ts";

/** Makes missing tables and columns. Throws if the tables are of a later version. */
export async function prepareTables(server: ClickHouse): Promise<void> {
  const [first, ...others] = schemaStatements();
  await server.run(first!);
  const [found] = await server.rows("SELECT max(version) AS version FROM selvedge_schema");
  const version = Number(found?.["version"] ?? 0);
  if (version > CLICKHOUSE_VERSION)
    throw new Error(
      `the tables in ClickHouse are of version ${version}, and this server knows version ${CLICKHOUSE_VERSION}: it is too old for them`,
    );
  for (const statement of others) await server.run(statement);
  // Another server may do the same now: two rows of one version are harmless.
  if (version < CLICKHOUSE_VERSION) await server.run(`INSERT INTO selvedge_schema (version) VALUES (${CLICKHOUSE_VERSION})`);
}

/** Drops the days that had ended by then: a whole day at once costs milliseconds, deleting single rows would rewrite the others. */
export async function dropExpired(server: ClickHouse, beforeMs: number): Promise<void> {
  const before = Math.floor(beforeMs / DAY_MS);
  for (const table of CLICKHOUSE_TABLES) {
    const days = await server.rows(
      "SELECT DISTINCT partition FROM system.parts WHERE database = currentDatabase() AND table = {p0:String} AND active AND toInt64OrZero(partition) < {p1:Int64}",
      { p0: tableName(table), p1: before },
    );
    for (const { partition } of days) {
      const day = Number(partition);
      // few: the days of a table
      if (Number.isSafeInteger(day)) await server.run(`ALTER TABLE ${tableName(table)} DROP PARTITION ${day}`);
    }
  }
}
