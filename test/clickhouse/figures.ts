import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClickHouse } from "#events/clickhouse/connection.ts";
import { prepareTables } from "#events/clickhouse/maintain.ts";
import { createClickHouseReads } from "#events/clickhouse/reads.ts";
import { createRowIds } from "#events/clickhouse/row-ids.ts";
import { rowLines } from "#events/clickhouse/row-lines.ts";
import { insertedColumns, tableName } from "#events/clickhouse/tables.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { type EventReads, localReads } from "#events/read/read-client.ts";
import type { PackedRows } from "#events/rows/packed-rows.ts";
import { packed, testRequestRow } from "#events/testing/rows.ts";
import { NOT_INSTALLED, startClickHouse } from "./server.ts";

/**
 * Prints figures of the embedded database and of ClickHouse with the same rows in one run: `node test/clickhouse/figures.ts 1000000`. Requests of one zone among
 * twenty, over two days.
 */
if (NOT_INSTALLED !== false) throw new Error(NOT_INSTALLED);
const ROWS = Number(process.argv[2] ?? 1_000_000);
const BLOCK = 50_000;
const DAY_MS = 86_400_000;
const START_MS = 19_700 * DAY_MS;
const ROUNDS = 5;

const directory = mkdtempSync(join(tmpdir(), "selvedge-figures-"));
const engine = await startClickHouse(join(directory, "data"));
const server = createClickHouse({ url: engine.url, ca: "" }, { queryMs: 120_000, insertMs: 120_000 });
await prepareTables(server);
const database = openEventDatabase(join(directory, "events.db"));
const queries = openEventQueries(join(directory, "events.db"));

let seed = 7;
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return (seed >>> 8) % below;
};

function block(first: number): PackedRows {
  const rows = Array.from({ length: BLOCK }, (_, i) =>
    testRequestRow({
      ray_id: `${random(2 ** 24).toString(16)}${random(2 ** 24).toString(16)}`,
      at_ms: START_MS + Math.floor(((first + i) / ROWS) * 2 * DAY_MS),
      // Half of the rows are of the zone that is asked about.
      zone_id: random(2) === 0 ? "large" : `zone-${random(20)}`,
      path: `/p/${random(100) < 80 ? random(50) : random(20_000)}`,
      host: `www.${random(30)}.example`,
      user_agent: `agent/${random(40)}`,
      client_ip: `192.0.${random(256)}.${random(256)}`,
      status: [200, 200, 200, 304, 404, 502][random(6)]!,
      bytes_out: random(100_000),
      duration_ms: random(50_000) / 100,
    }),
  );
  return packed("requests", rows);
}

const spent = { embedded: 0, clickHouse: 0, embeddedMicros: 0, clickHouseMicros: 0 };
const cpuMicros = (): number => process.cpuUsage().user + process.cpuUsage().system;
const ids = createRowIds("figures", Date.now);
const into = `${tableName("requests")} (${insertedColumns("requests").join(", ")})`;
for (let first = 0; first < ROWS; first += BLOCK) {
  const rows = block(first);
  const [begun, begunMicros] = [performance.now(), cpuMicros()];
  database.insert([rows]);
  const [between, betweenMicros] = [performance.now(), cpuMicros()];
  await server.insert(into, rowLines(rows, { node: "", nextRow: ids.next }), `block-${first}`);
  spent.embedded += between - begun;
  spent.clickHouse += performance.now() - between;
  spent.embeddedMicros += betweenMicros - begunMicros;
  spent.clickHouseMicros += cpuMicros() - betweenMicros;
}
const perSecond = (ms: number): string => `${Math.round((ROWS / ms) * 1000).toLocaleString("en")} rows/s`;
console.log(
  `insert of ${ROWS.toLocaleString("en")} rows: embedded ${perSecond(spent.embedded)}, ClickHouse ${perSecond(spent.clickHouse)}`,
);

const perRow = (micros: number): string => `${(micros / ROWS).toFixed(1)} µs`;
// The engine, its HTTP interface and the compression of both sides run in this process.
console.log(`CPU a row: embedded ${perRow(spent.embeddedMicros)}, ClickHouse with its engine ${perRow(spent.clickHouseMicros)}`);

const zone = [{ column: "zone_id", operator: "eq", value: "large" }] as const;
const byColumn = (column: "path" | "host" | "status") => (reads: EventReads) =>
  reads.groups("requests", { where: zone, by: [{ column }], measures: [], order: [{ by: "count", direction: "desc" }], limit: 15 });
const QUESTIONS: Readonly<Record<string, (reads: EventReads) => Promise<unknown>>> = {
  "newest 50": (reads) => reads.page("requests", { where: zone, limit: 50 }),
  "groups by status": byColumn("status"),
  "groups by path": byColumn("path"),
  "groups by host": byColumn("host"),
};
const stores = {
  embedded: localReads(queries),
  ClickHouse: createClickHouseReads({ server, local: localReads(queries), nowMs: Date.now, failed: console.error }),
};
for (const [name, ask] of Object.entries(QUESTIONS))
  for (const [store, reads] of Object.entries(stores)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const begun = performance.now();
      await ask(reads);
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    console.log(`${name}: ${store} ${times[ROUNDS >> 1]!.toFixed(1)} ms (median of ${ROUNDS}, best ${times[0]!.toFixed(1)})`);
  }
queries.close();
database.close();
await server.close();
await engine.close();
rmSync(directory, { recursive: true, force: true });
