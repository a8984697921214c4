import { type MessagePort, parentPort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { runInBackground } from "#kernel/process/thread-priority.ts";
import { createDetector } from "#edge/detection/detector.ts";
import { createValueHash } from "#rules/detectors/engine/value-hash.ts";

// A detector as the server runs it, except for the destination of its events.
runInBackground();
const detector = createDetector({
  events: { push: () => undefined },
  clock: systemClock,
  metrics: createMetrics(),
  policies: () => undefined,
  valueHash: createValueHash(Buffer.alloc(32, 1)),
});
parentPort?.once("message", (port: MessagePort) => {
  detector.attach(port);
  parentPort?.postMessage("attached");
});
