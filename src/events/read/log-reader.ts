import { parentPort, workerData } from "node:worker_threads";
import { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import { openGatewayLogReads } from "./log-reads.ts";
import { serveReads } from "./serve-reads.ts";

/** The thread that looks through the logs of gateways. `workerData`: the path of the events database. */
const main = parentPort;
if (main === null) throw new Error("events/read/log-reader.ts runs as a worker thread");

const { close, ...reads } = openGatewayLogReads((workerData as { readonly path: string }).path);
serveReads({ voice: createWorkerChannel(main), reads, close });
