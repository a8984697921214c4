import { parentPort, workerData } from "node:worker_threads";
import { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import { openEventQueries } from "./queries.ts";
import { localReads } from "./read-client.ts";
import { serveReads } from "./serve-reads.ts";

/** The thread that answers queries from the events database. `workerData`: the path of the events database. */
const main = parentPort;
if (main === null) throw new Error("events/read/reader.ts runs as a worker thread");

const queries = openEventQueries((workerData as { readonly path: string }).path);
serveReads({ voice: createWorkerChannel(main), reads: localReads(queries), close: queries.close });
