import { parentPort, workerData } from "node:worker_threads";
import { createValueHash } from "#rules/detectors/engine/value-hash.ts";
import { createScan, type ScanTask } from "./scan.ts";

/** Detectors take 0.4 s to compile and a text up to 50 ms, during which the API must serve others. */
const port = parentPort;
if (port === null) throw new Error("control/detection/scan-thread.ts runs as a worker thread");

const scan = createScan(createValueHash(workerData as Uint8Array));
port.on("message", (task: ScanTask) => port.postMessage(scan(task)));
