import { workerData } from "node:worker_threads";
import { waitToLoad, type PrestartedThreadData, throughWithLoading } from "#kernel/process/worker-bootstrap.ts";

/** Limit of the time that the others wait for an earlier thread that hangs. */
const TURN_LIMIT_MS = 2_000;

const data = workerData as PrestartedThreadData;
waitToLoad(data, TURN_LIMIT_MS);
try {
  await import(data.script);
} catch (error) {
  throughWithLoading(data);
  throw error;
}
