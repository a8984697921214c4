import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { NodeBatch } from "#events/rows/node-batch.ts";
import type { EventTable } from "#events/rows/rows.ts";
import type { PackedRows } from "#events/rows/packed-rows.ts";
import { createBlockSender } from "./block-sender.ts";
import { createBlockSpool } from "./block-spool.ts";
import { type ClickHousePlace, createClickHouse } from "./connection.ts";
import { dropExpired, prepareTables } from "./maintain.ts";
import { createRowIds } from "./row-ids.ts";
import { apart } from "./row-lines.ts";
import { epochOf } from "#events/spool/epoch.ts";
import { isInClickHouse } from "./tables.ts";

/** The writer's way to ClickHouse: rows are kept on this disk until it has them. */
export interface ClickHouseStore {
  /** Whether it has the rows of the table. */
  has(table: EventTable): boolean;
  /** Keeps rows of these tables; they are on disk when it returns. Throws a SpoolFullError. */
  keep(tables: readonly PackedRows[]): void;
  keepBatch(batch: NodeBatch, tables: readonly PackedRows[]): void;
  newestBatch(): Omit<NodeBatch, "bytes"> | null;
  /** Deletes days that are older; what fails is tried again. */
  tidy(beforeMs: number): void;
  close(): Promise<void>;
}

export interface ClickHouseStoreDeps {
  readonly place: ClickHousePlace;
  /** Where rows wait. */
  readonly directory: string;
  readonly bytesMax: number;
  readonly metrics: MetricRegistry;
  nowMs(): number;
  monotonicMs(): number;
  log(level: "info" | "warn" | "error", message: string, fields: Readonly<Record<string, unknown>>): void;
}

const MEASURE_MS = 1_000;
const TIDY_MS = 600_000;

export function openClickHouseStore({ place, directory, bytesMax, metrics, log, ...time }: ClickHouseStoreDeps): ClickHouseStore {
  const server = createClickHouse(place);
  const address = new URL(place.url).host;
  const isUp = metrics.gauge("selvedge_events_clickhouse_up", "1 while ClickHouse takes events; 0 while they wait on this disk");
  const spooled = metrics.gauge("selvedge_events_clickhouse_spool_bytes", "Bytes of events on this disk that ClickHouse has not stored");
  const rows = metrics.counter("selvedge_events_clickhouse_rows_total", "Event rows that ClickHouse has stored");
  const failures = metrics.counter("selvedge_events_clickhouse_failures_total", "Failed attempts to store events in ClickHouse");
  const refusals = metrics.counter(
    "selvedge_events_clickhouse_refused_total",
    "Blocks of events that ClickHouse cannot store; they are set aside",
  );
  const spool = createBlockSpool({
    ...{ directory, bytesMax, monotonicMs: time.monotonicMs },
    damaged: (at) => log("warn", "a file of events contains an invalid record", { ...at }),
  });
  let state: "unknown" | "up" | "down" = "unknown";
  const sender = createBlockSender({
    ...{ spool, server, ids: createRowIds(epochOf(directory), time.nowMs) },
    prepare: () => prepareTables(server),
    stored: (count) => (rows.value += count),
    up: () => {
      isUp.value = 1;
      if (state !== "up") log("info", "events go to ClickHouse", { server: address });
      state = "up";
    },
    down: (reason) => {
      failures.value++;
      isUp.value = 0;
      if (state !== "down")
        log("warn", "ClickHouse does not take events; they wait on this disk until it does", { server: address, reason });
      state = "down";
    },
    refused: ({ segment }, reason) => {
      refusals.value++;
      log("error", "ClickHouse cannot store a block of events, which is set aside", { segment, reason, directory });
    },
  });
  const measure = setInterval(() => (spooled.value = spool.bytes()), MEASURE_MS).unref();
  let tidiedMs = -Infinity;
  return {
    has: isInClickHouse,
    keep: (tables) => spool.append(tables.flatMap(apart)),
    keepBatch: (batch, tables) => spool.appendBatch(batch, tables.flatMap(apart)),
    newestBatch: spool.newestBatch,
    tidy: (beforeMs) => {
      if (time.monotonicMs() - tidiedMs < TIDY_MS || state !== "up") return;
      tidiedMs = time.monotonicMs();
      dropExpired(server, beforeMs).catch((error: unknown) =>
        log("error", "deleting old events in ClickHouse failed", { error: String(error) }),
      );
    },
    close: async () => {
      sender.stop();
      clearInterval(measure);
      spool.close();
      await server.close();
    },
  };
}
