import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { type BackupRequest, makeBackup } from "./make-backup.ts";

/** Compressing and encrypting take as long as the databases are large, and the main thread has others to serve. */
parentPort?.postMessage(await makeBackup({ ...(workerData as Omit<BackupRequest, "clock">), clock: systemClock }));
