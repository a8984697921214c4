import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { RowsMessage } from "#events/messages.ts";
import { RowPacker } from "#events/packed-rows.ts";
import { type EventQueries, openEventQueries } from "#events/queries.ts";
import type { RequestRow, SecurityEventRow } from "#events/rows.ts";
import { testRequestRow, testSecurityRow } from "#events/test-rows.ts";
import type { WriterData } from "#events/writer-config.ts";
import type { Benchmark, Contender } from "./benchmark.ts";

/** `EVENTS_ROWS=1000000` for a short look. */
const ROWS = Number(process.env["EVENTS_ROWS"] ?? 10_000_000);
/** One of so many rows is a security event, the others are requests. */
const EVENT_EVERY = 5;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const START_MS = 20_000 * DAY_MS;
const ZONES = 50;
const RULES = 200;
const ROWS_AT_ONCE = 1_000;
const BATCHES_UNDER_WAY = 8;
const ACCOUNT = "a".repeat(32);

/** Ten million rows of a day, put down by the writer's own thread; the peer is SQLite with a table as anybody would make it. */
export const events10m: Benchmark = {
  name: "events-10m",
  unit: "ms for the events of a zone's hour, 100 of them, by one of 200 rules",
  better: "lower",
  target: 100,
  tools: [],
  prepare: async ({ directory }) => {
    const [ours, plain] = [join(directory, "events.db"), join(directory, "plain.db")];
    await writeRows(ours);
    writePlainRows(plain);
    const queries = openEventQueries(ours);
    const peer = new DatabaseSync(plain, { readOnly: true });
    return {
      ours: oursContender(queries),
      peers: [plainContender(peer)],
      close: async () => {
        queries.close();
        peer.close();
      },
    };
  },
};

const zoneOf = (n: number): string => `${n % ZONES}`.padStart(32, "0");
/** A tenth of the zones has half of the traffic. */
const zoneAt = (n: number): string => zoneOf(n % 2 === 0 ? (n >> 1) % 5 : (n * 7) >> 1);
const agentAt = (n: number): string => `Mozilla/5.0 (X11; Linux x86_64; rv:${n % 100}.0) Gecko/20100101 Firefox/${(n * 13) % 500}.0`;

function requestAt(n: number): RequestRow {
  return testRequestRow({
    ...sharedAt(n),
    status: n % 20 === 0 ? 404 : 200,
    bytes_out: n % 10_000,
    duration_ms: (n % 977) / 7,
    cache_status: n % 3 === 0 ? "HIT" : "MISS",
  });
}

function eventAt(n: number): SecurityEventRow {
  const rule = (n * 31) % RULES;
  return testSecurityRow({
    ...sharedAt(n),
    id: `01HF${n.toString(32).toUpperCase().padStart(22, "0")}`,
    rule_id: `${rule}`.padStart(32, "f"),
    ruleset_id: `${rule % 10}`.padStart(32, "e"),
    rule_description: `Rule number ${rule} of the set`,
    action: rule % 3 === 0 ? "block" : "log",
    service: "WAF",
    status: 403,
    matches: [],
  });
}

const sharedAt = (n: number) => ({
  ray_id: n.toString(16).padStart(16, "0"),
  at_ms: START_MS + Math.floor((n / ROWS) * DAY_MS),
  account_id: ACCOUNT,
  zone_id: zoneAt(n),
  client_ip: `198.${(n * 7) & 255}.${(n >> 4) & 255}.${n & 255}`,
  host: `www${n % 3}.example-${n % ZONES}.com`,
  path: `/articles/${(n * 17) % 5000}/page`,
  query: n % 4 === 0 ? `page=${n % 10}` : "",
  user_agent: agentAt(n % 997),
});

async function writeRows(path: string): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const workerData: WriterData = { path, ports: [port2], retention: { ageMs: 1e15, bytes: 1e15, minutesAgeMs: 1e15, hoursAgeMs: 1e15 } };
  const writer = new Worker(new URL("../../src/events/writer.ts", import.meta.url), { workerData, transferList: [port2] });
  await once(writer, "message");
  const started = performance.now();
  const [before, own] = [process.cpuUsage(), process.threadCpuUsage()];
  await sendRows(port1);
  const seconds = (performance.now() - started) / 1000;
  const [all, main] = [process.cpuUsage(before), process.threadCpuUsage(own)];
  const cpuMicros = all.user + all.system - main.user - main.system;
  writer.postMessage({ type: "drain", timeoutMs: 60_000 });
  await once(writer, "exit");
  const bytes = statSync(path).size;
  console.log(
    `  ${ROWS} rows by the writer in ${seconds.toFixed(0)} s, ${Math.round(ROWS / seconds)} rows/s with their making, ${(cpuMicros / ROWS).toFixed(1)} µs of the writer's CPU a row; ${Math.round(bytes / ROWS)} bytes a row, roll-ups and indexes included`,
  );
}

/** As a sink sends them, with so many batches under way at most. */
async function sendRows(port: MessagePort): Promise<void> {
  const packers = { requests: new RowPacker("requests"), security_events: new RowPacker("security_events") };
  let underWay = 0;
  let wake: (() => void) | undefined;
  port.on("message", () => {
    underWay--;
    wake?.();
  });
  const below = async (most: number): Promise<void> => {
    while (underWay > most) await new Promise<void>((resolve) => (wake = resolve));
  };
  for (let n = 0, batch = 0; n < ROWS; batch++) {
    for (const end = Math.min(ROWS, n + ROWS_AT_ONCE); n < end; n++) {
      if (n % EVENT_EVERY === 0) packers.security_events.push(eventAt(n));
      else packers.requests.push(requestAt(n));
    }
    const message: RowsMessage = { type: "rows", batch, tables: [packers.requests.take(), packers.security_events.take()] };
    port.postMessage(message);
    underWay++;
    await below(BATCHES_UNDER_WAY);
  }
  await below(0);
  port.close();
}

function writePlainRows(path: string): void {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  const tables = { requests: requestAt(1), security_events: eventAt(0) };
  const insert = Object.entries(tables).map(([table, row]) => {
    const columns = Object.keys(row);
    db.exec(
      `CREATE TABLE ${table} (row_id INTEGER PRIMARY KEY, ${columns.join(", ")}); CREATE INDEX ${table}_zone ON ${table} (zone_id, at_ms)`,
    );
    const statement = db.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`);
    return (values: object) =>
      statement.run(
        ...Object.values(values).map((value) => (typeof value === "object" || typeof value === "boolean" ? JSON.stringify(value) : value)),
      );
  });
  const started = performance.now();
  for (let n = 0; n < ROWS;) {
    db.exec("BEGIN");
    for (const end = Math.min(ROWS, n + ROWS_AT_ONCE); n < end; n++)
      if (n % EVENT_EVERY === 0) insert[1]!(eventAt(n));
      else insert[0]!(requestAt(n));
    db.exec("COMMIT");
  }
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  const seconds = (performance.now() - started) / 1000;
  console.log(`  the same into plain tables in ${seconds.toFixed(0)} s, ${Math.round(statSync(path).size / ROWS)} bytes a row`);
}

/** Of one of the events in the hour. */
const EXAMPLE = eventAt(Math.floor(((13.5 / 24) * ROWS) / (EVENT_EVERY * 2)) * EVENT_EVERY * 2);
const ZONE = EXAMPLE.zone_id;
const RULE = EXAMPLE.rule_id;
const HOUR = [START_MS + 13 * HOUR_MS + 1_234, START_MS + 14 * HOUR_MS + 1_234] as const;
const DAY = [START_MS + 1_234, START_MS + DAY_MS - 1_234] as const;

function timed(work: () => number): number {
  const started = performance.now();
  const found = work();
  if (found === 0) throw new Error("a question of the benchmark found nothing");
  return performance.now() - started;
}

function oursContender(queries: EventQueries): Contender {
  const between = ([from, to]: readonly [number, number]) =>
    [
      { column: "at_ms", operator: "ge", value: from },
      { column: "at_ms", operator: "lt", value: to },
    ] as const;
  const inZone = { column: "zone_id", operator: "eq", value: ZONE } as const;
  const inAccount = { column: "account_id", operator: "eq", value: ACCOUNT } as const;
  const grouped = { measures: [], order: [{ by: "count", direction: "desc" }], limit: 100 } as const;
  return {
    name: "selvedge",
    run: async () => ({
      value: timed(
        () =>
          queries.page("security_events", {
            where: [inZone, ...between(HOUR), { column: "rule_id", operator: "eq", value: RULE }],
            limit: 100,
          }).rows.length,
      ),
      also: {
        newest_100_ms: timed(() => queries.page("requests", { where: [inZone, ...between(HOUR)], limit: 100 }).rows.length),
        rules_of_a_zones_day_ms: timed(
          () => queries.groups("security_events", { where: [inZone, ...between(DAY)], by: [{ column: "rule_id" }], ...grouped }).length,
        ),
        rules_of_an_accounts_day_ms: timed(
          () => queries.groups("security_events", { where: [inAccount, ...between(DAY)], by: [{ column: "rule_id" }], ...grouped }).length,
        ),
        statuses_by_hour_ms: timed(
          () =>
            queries.groups("requests", {
              where: [inZone, ...between(DAY)],
              by: [{ column: "status" }, { column: "at_ms", intervalMs: HOUR_MS }],
              ...grouped,
            }).length,
        ),
        paths_of_a_zones_day_ms: timed(
          () => queries.groups("requests", { where: [inZone, ...between(DAY)], by: [{ column: "path" }], ...grouped }).length,
        ),
      },
    }),
  };
}

function plainContender(db: DatabaseSync): Contender {
  const all = (sql: string, ...values: (string | number)[]): number => timed(() => db.prepare(sql).all(...values).length);
  const count = "COUNT(*) AS n";
  return {
    name: "plain SQLite",
    run: async () => ({
      value: all(
        "SELECT * FROM security_events WHERE zone_id = ? AND at_ms >= ? AND at_ms < ? AND rule_id = ? ORDER BY at_ms DESC LIMIT 100",
        ZONE,
        ...HOUR,
        RULE,
      ),
      also: {
        newest_100_ms: all(
          "SELECT * FROM requests WHERE zone_id = ? AND at_ms >= ? AND at_ms < ? ORDER BY at_ms DESC LIMIT 100",
          ZONE,
          ...HOUR,
        ),
        rules_of_a_zones_day_ms: all(
          `SELECT rule_id, ${count} FROM security_events WHERE zone_id = ? AND at_ms >= ? AND at_ms < ? GROUP BY rule_id ORDER BY n DESC LIMIT 100`,
          ZONE,
          ...DAY,
        ),
        rules_of_an_accounts_day_ms: all(
          `SELECT rule_id, ${count} FROM security_events WHERE account_id = ? AND at_ms >= ? AND at_ms < ? GROUP BY rule_id ORDER BY n DESC LIMIT 100`,
          ACCOUNT,
          ...DAY,
        ),
        statuses_by_hour_ms: all(
          `SELECT status, at_ms / ${HOUR_MS} AS hour, ${count} FROM requests WHERE zone_id = ? AND at_ms >= ? AND at_ms < ? GROUP BY status, hour ORDER BY n DESC LIMIT 100`,
          ZONE,
          ...DAY,
        ),
        paths_of_a_zones_day_ms: all(
          `SELECT path, ${count} FROM requests WHERE zone_id = ? AND at_ms >= ? AND at_ms < ? GROUP BY path ORDER BY n DESC LIMIT 100`,
          ZONE,
          ...DAY,
        ),
      },
    }),
  };
}
