import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { ClickHousePlace } from "#events/clickhouse/connection.ts";
import type { ClickHouseStore, ClickHouseStoreDeps } from "#events/clickhouse/store.ts";
import type { EventDatabase } from "#events/database/database.ts";
import type { RetentionLimits } from "#events/retention/retention.ts";
import type { NodeBatch } from "#events/rows/node-batch.ts";
import type { PackedRows } from "#events/rows/packed-rows.ts";
import { clickHouseSpoolOf } from "./writer-config.ts";

/** The places of rows: the events database, and ClickHouse if it is configured. */
export interface RowPlaces {
  /** Stores all rows or none. */
  insert(tables: readonly PackedRows[]): void;
  /** Keeps those rows of a node's batch that ClickHouse has, and returns the others. */
  keepBatch(batch: NodeBatch, tables: readonly PackedRows[]): readonly PackedRows[];
  /** Deletes days in ClickHouse that are older. */
  tidy(beforeMs: number): void;
  close(): Promise<void>;
}

export interface RowPlacesDeps extends Pick<ClickHouseStoreDeps, "log" | "nowMs" | "monotonicMs"> {
  readonly database: EventDatabase;
  readonly clickHouse: ClickHousePlace | undefined;
  readonly eventsPath: string;
  readonly limits: RetentionLimits;
  readonly metrics: MetricRegistry;
}

export async function openRowPlaces(deps: RowPlacesDeps): Promise<RowPlaces> {
  const { database, clickHouse } = deps;
  if (clickHouse === undefined)
    return {
      insert: (tables) => database.insert(tables),
      keepBatch: (_batch, tables) => tables,
      tidy: () => undefined,
      close: async () => undefined,
    };
  const store = await openStore(deps, clickHouse);
  // A crash between the two files leaves a batch in the spool whose place the database does not know yet.
  const batch = store.newestBatch();
  if (batch !== null) database.take({ ...batch, bytes: new Uint8Array() }, () => []);
  const split = (tables: readonly PackedRows[]) => Object.groupBy(tables, ({ table }) => (store.has(table) ? "away" : "here"));
  return {
    // Rows for ClickHouse are on disk before the others are committed.
    insert: (tables) => {
      const { away = [], here = [] } = split(tables);
      if (away.length === 0) database.insert(here);
      else if (here.length === 0) store.keep(away);
      else database.insert(here, () => store.keep(away));
    },
    keepBatch: (given, tables) => {
      const { away = [], here = [] } = split(tables);
      if (away.length > 0) store.keepBatch(given, away);
      return here;
    },
    tidy: store.tidy,
    close: store.close,
  };
}

/** Its code is loaded only where it is configured. */
async function openStore({ eventsPath, limits, metrics, ...deps }: RowPlacesDeps, place: ClickHousePlace): Promise<ClickHouseStore> {
  const { openClickHouseStore } = await import("#events/clickhouse/store.ts");
  const { nowMs, monotonicMs, log } = deps;
  return openClickHouseStore({ place, directory: clickHouseSpoolOf(eventsPath), bytesMax: limits.bytes, metrics, nowMs, monotonicMs, log });
}
