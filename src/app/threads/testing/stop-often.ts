import type { Log } from "#app/log/log.ts";
import { startPlaneWorker } from "../plane-worker.ts";

/** With so many stops, `terminate` would meet a native call almost certainly. */
const STOPS = 40;
const script = new URL("./native-calls-thread.ts", import.meta.url).href;
const log = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log;
for (let n = 0; n < STOPS; n++) {
  const worker = startPlaneWorker({ name: "plane", script, log, connect: () => ({ workerData: {}, transfer: [] }) });
  await worker.listening;
  await worker.stop(0);
}
