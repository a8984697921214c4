import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { RowsMessage } from "#events/rows/messages.ts";
import { RowPacker } from "#events/rows/row-packer.ts";
import { type EventQueries, openEventQueries } from "#events/read/queries.ts";
import type { WriterData } from "#events/write/writer-config.ts";
import type { Benchmark, Contender } from "./benchmark.ts";
import { ACCOUNT, DAY_MS, EVENT_EVERY, eventAt, requestAt, ROWS, ROWS_AT_ONCE, START_MS } from "./events-10m-rows.ts";

const HOUR_MS = 3_600_000;
const BATCHES_UNDER_WAY = 8;

/**
 * Writes ten million rows of a day with the writer's own thread, which masks them; the peer is SQLite with a plain
 * table. Both are written concurrently, each by a thread whose CPU time is measured, and read one after the other.
 */
export const events10m: Benchmark = {
  name: "events-10m",
  unit: "ms for the events of a zone's hour, 100 of them, by one of 200 rules",
  better: "lower",
  target: 100,
  tools: [],
  prepare: async ({ directory }) => {
    const [ours, plain] = [join(directory, "events.db"), join(directory, "plain.db")];
    await Promise.all([writeRows(ours), writePlainRows(plain)]);
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

async function writeRows(path: string): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const workerData: WriterData = { path, ports: [port2], retention: { ageMs: 1e15, bytes: 1e15, minutesAgeMs: 1e15, hoursAgeMs: 1e15 } };
  const writer = new Worker(new URL("../../src/events/write/writer.ts", import.meta.url), { workerData, transferList: [port2] });
  await once(writer, "message");
  const before = await writer.cpuUsage();
  const started = performance.now();
  await sendRows(port1);
  const after = await writer.cpuUsage();
  const seconds = (performance.now() - started) / 1000;
  writer.postMessage({ type: "drain", timeoutMs: 60_000 });
  await once(writer, "exit");
  const micros = after.user + after.system - before.user - before.system;
  console.log(
    `  ${ROWS} rows by the writer in ${seconds.toFixed(0)} s beside the others, ${perRow(micros)} µs of its CPU a row, ${bytesPerRow(path)} bytes a row, roll-ups and indexes included`,
  );
}

const perRow = (micros: number): string => (micros / ROWS).toFixed(1);
const bytesPerRow = (path: string): number => Math.round(statSync(path).size / ROWS);

/** Sends batches like a sink, with at most this many unacknowledged ones. */
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

async function writePlainRows(path: string): Promise<void> {
  const started = performance.now();
  const writer = new Worker(new URL("events-10m-plain.ts", import.meta.url), { workerData: path });
  const [{ user, system }] = (await once(writer, "message")) as [NodeJS.CpuUsage];
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `  the same into plain tables in ${seconds.toFixed(0)} s, ${perRow(user + system)} µs of CPU a row with their making, ${bytesPerRow(path)} bytes a row`,
  );
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
