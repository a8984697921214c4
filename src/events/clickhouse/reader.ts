import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { localReads } from "#events/read/read-client.ts";
import { serveReads } from "#events/read/serve-reads.ts";
import { type ClickHousePlace, createClickHouse } from "./connection.ts";
import { createClickHouseReads } from "./reads.ts";

/** `workerData` of this thread. */
export interface ClickHouseReaderData {
  /** File of the events database, which has the logs of gateways. */
  readonly path: string;
  readonly clickHouse: ClickHousePlace;
}

/** The thread that answers queries from ClickHouse, and those about gateways from the events database. */
const main = parentPort;
if (main === null) throw new Error("events/clickhouse/reader.ts runs as a worker thread");

const { path, clickHouse } = workerData as ClickHouseReaderData;
const voice = createWorkerChannel(main);
const server = createClickHouse(clickHouse);
const queries = openEventQueries(path);
const reads = createClickHouseReads({
  ...{ server, local: localReads(queries), nowMs: systemClock.nowMs },
  failed: (question, reason) => voice.log("warn", "ClickHouse did not answer an event query", { question, reason }),
});
serveReads({
  ...{ voice, reads },
  close: async () => {
    queries.close();
    await server.close();
  },
});
