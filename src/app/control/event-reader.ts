import type { ClickHousePlace } from "#events/clickhouse/connection.ts";
import type { GatewayLogReads } from "#events/read/log-reads.ts";
import { createThreadLogReads, createThreadReads, type EventReads, type ThreadPort } from "#events/read/read-client.ts";
import type { MetricSample } from "#kernel/process/metrics.ts";
import type { Log } from "#app/log/log.ts";
import { type PlaneWorker, startPlaneWorker } from "#app/threads/plane-worker.ts";
import { handOver } from "#app/threads/thread-ports.ts";

interface ThreadOf<Reads> {
  readonly reads: Reads;
  metrics(): Promise<readonly MetricSample[]>;
  close(): Promise<void>;
}
export type EventReader = ThreadOf<EventReads>;
export type GatewayLogReader = ThreadOf<GatewayLogReads>;

interface Started<Port> {
  readonly worker: PlaneWorker;
  readonly reads: Port;
}

const STOP_MS = 1_000;

/** Queries that wait for ClickHouse at the same time; those of the embedded database take the thread itself. */
const CLICKHOUSE_QUERIES_MAX = 8;

/** The thread that reads events for the API. It starts with the first query: most installations never have one. */
export function createEventReader(path: string, log: Log, clickHouse?: ClickHousePlace): EventReader {
  const script =
    clickHouse === undefined ? import.meta.resolve("#events/read/reader.ts") : import.meta.resolve("#events/clickhouse/reader.ts");
  const { reads, ...rest } = lazyThread({
    ...{ name: "events-reader", script, workerData: { path, clickHouse }, log },
    create: () => createThreadReads(clickHouse && CLICKHOUSE_QUERIES_MAX),
  });
  return {
    ...rest,
    reads: {
      page: (table, query) => reads().page(table, query),
      arrivals: (table, query) => reads().arrivals(table, query),
      lastRow: (table) => reads().lastRow(table),
      groups: (table, query) => reads().groups(table, query),
      values: (table, query) => reads().values(table, query),
    },
  };
}

/** The thread that looks through the logs of gateways, so that the API serves others meanwhile. It starts with the first query. */
export function createGatewayLogReader(path: string, log: Log): GatewayLogReader {
  const { reads, ...rest } = lazyThread({
    ...{ name: "gateway-log-reader", script: import.meta.resolve("#events/read/log-reader.ts"), workerData: { path }, log },
    create: createThreadLogReads,
  });
  return {
    ...rest,
    reads: {
      list: (scope, query) => reads().list(scope, query),
      count: (scope, query) => reads().count(scope, query),
      bounds: (scope, query) => reads().bounds(scope, query),
      averages: (scope, alternatives) => reads().averages(scope, alternatives),
      places: (scope, query) => reads().places(scope, query),
    },
  };
}

function lazyThread<Port extends ThreadPort>({
  name,
  script,
  workerData,
  log,
  create,
}: {
  readonly name: string;
  readonly script: string;
  readonly workerData: object;
  readonly log: Log;
  create(): Port;
}): Omit<ThreadOf<unknown>, "reads"> & { reads(): Port } {
  let started: Started<Port> | null = null;
  const start = (): Started<Port> => {
    const reads = create();
    const connect = (): void => reads.connect(handOver(worker));
    const worker = startPlaneWorker({ name, script, log, connect: () => ({ workerData, transfer: [] }), onRestart: connect });
    // Queries wait in the port until it listens; if it never does, each of them fails.
    worker.listening.catch((error: unknown) => log.error({ err: error }, `the ${name} thread failed to start`));
    connect();
    return { worker, reads };
  };
  return {
    reads: () => (started ??= start()).reads,
    metrics: async () => started?.worker.metrics() ?? [],
    close: async () => {
      started?.reads.close();
      await started?.worker.stop(STOP_MS);
    },
  };
}
