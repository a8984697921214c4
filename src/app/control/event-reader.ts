import type { ClickHousePlace } from "#events/clickhouse/connection.ts";
import { createThreadReads, type EventReads, type ThreadReads } from "#events/read/read-client.ts";
import type { MetricSample } from "#kernel/process/metrics.ts";
import type { Log } from "#app/log/log.ts";
import { type PlaneWorker, startPlaneWorker } from "#app/threads/plane-worker.ts";
import { handOver } from "#app/threads/thread-ports.ts";

export interface EventReader {
  readonly reads: EventReads;
  metrics(): Promise<readonly MetricSample[]>;
  close(): Promise<void>;
}

interface Started {
  readonly worker: PlaneWorker;
  readonly reads: ThreadReads;
}

const STOP_MS = 1_000;

/** Queries that wait for ClickHouse at the same time; those of the embedded database take the thread itself. */
const CLICKHOUSE_QUERIES_MAX = 8;

/** The thread that reads events for the API. It starts with the first query: most installations never have one. */
export function createEventReader(path: string, log: Log, clickHouse?: ClickHousePlace): EventReader {
  let started: Started | null = null;
  const reads = (): ThreadReads => (started ??= start(path, log, clickHouse)).reads;
  return {
    reads: {
      page: (table, query) => reads().page(table, query),
      arrivals: (table, query) => reads().arrivals(table, query),
      lastRow: (table) => reads().lastRow(table),
      groups: (table, query) => reads().groups(table, query),
      values: (table, query) => reads().values(table, query),
    },
    metrics: async () => started?.worker.metrics() ?? [],
    close: async () => {
      started?.reads.close();
      await started?.worker.stop(STOP_MS);
    },
  };
}

function start(path: string, log: Log, clickHouse?: ClickHousePlace): Started {
  const reads = createThreadReads(clickHouse && CLICKHOUSE_QUERIES_MAX);
  const connect = (): void => reads.connect(handOver(worker));
  const worker = startPlaneWorker({
    name: "events-reader",
    script: clickHouse === undefined ? import.meta.resolve("#events/read/reader.ts") : import.meta.resolve("#events/clickhouse/reader.ts"),
    log,
    connect: () => ({ workerData: { path, clickHouse }, transfer: [] }),
    onRestart: connect,
  });
  // Queries wait in the port until it listens; if it never does, each of them fails.
  worker.listening.catch((error: unknown) => log.error({ err: error }, "the event reader thread failed to start"));
  connect();
  return { worker, reads };
}
