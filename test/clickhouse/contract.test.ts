import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { createClickHouse } from "#events/clickhouse/connection.ts";
import { prepareTables } from "#events/clickhouse/maintain.ts";
import { createClickHouseReads } from "#events/clickhouse/reads.ts";
import { createRowIds } from "#events/clickhouse/row-ids.ts";
import { apart, rowLines } from "#events/clickhouse/row-lines.ts";
import { CLICKHOUSE_TABLES, type ClickHouseTable, insertedColumns, tableName } from "#events/clickhouse/tables.ts";
import { testEventContract } from "../support/event-contract.ts";
import { NOT_INSTALLED, startClickHouse } from "./server.ts";

if (NOT_INSTALLED !== false) testEventContract("ClickHouse", async () => Promise.reject(new Error("skipped")), { skip: NOT_INSTALLED });
else await run();

/** A process has one engine, so all tests share it and each begins with empty tables. */
async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-clickhouse-"));
  const engine = await startClickHouse(join(directory, "data"));
  const server = createClickHouse({ url: engine.url, ca: "" });
  after(async () => {
    await server.close();
    await engine.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const ids = createRowIds("test", Date.now);
  // As long after the rows as a reader waits for those of other servers.
  const reads = createClickHouseReads({
    ...{ server, local: {} as never, nowMs: () => Date.now() + 10_000 },
    failed: (question, reason) => console.error(question, reason),
  });
  let blocks = 0;
  testEventContract(
    "ClickHouse",
    async () => {
      await prepareTables(server);
      for (const table of CLICKHOUSE_TABLES) await server.run(`TRUNCATE TABLE ${tableName(table)}`);
      return {
        reads,
        insert: async (tables) => {
          for (const packed of tables.flatMap(apart)) {
            const table = packed.table as ClickHouseTable;
            const into = `${tableName(table)} (${insertedColumns(table).join(", ")})`;
            await server.insert(into, rowLines(packed, { node: "", nextRow: ids.next }), `block-${++blocks}`);
          }
        },
      };
    },
    { share: 0.3 },
  );
}
