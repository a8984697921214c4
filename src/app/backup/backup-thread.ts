import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { type BackupRequest, makeBackup } from "./make-backup.ts";

/** Compressing and encrypting large databases takes long, and the main thread must serve other requests. */
parentPort?.postMessage(await makeBackup({ ...(workerData as Omit<BackupRequest, "clock">), clock: systemClock }));
