import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/metrics.ts";
import { runInBackground } from "#kernel/thread-priority.ts";
import { createWorkerVoice } from "#kernel/worker-protocol.ts";
import { createEventSink } from "#events/sink.ts";
import { createDetector } from "./detector.ts";

/** `workerData` of edge/detection/worker.ts. Ports are transferred; more taps come by `{ type: "attach", port }`. */
export interface DetectorWorkerData {
  readonly tap: readonly MessagePort[];
  /** To the events writer. */
  readonly events: MessagePort;
}

const main = parentPort;
if (main === null) throw new Error("edge/detection/worker.ts runs as a worker thread");
runInBackground();

const { tap, events: eventsPort } = workerData as DetectorWorkerData;
const metrics = createMetrics();
const events = createEventSink({ port: eventsPort, metrics });
const detector = createDetector({ events, clock: systemClock, metrics });
const voice = createWorkerVoice(main);

// Time for what taps sent last, and for decoders, to come through.
const SETTLE_MS = 50;

async function drain(timeoutMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.min(SETTLE_MS, timeoutMs)));
  detector.close();
  await new Promise((resolve) => setTimeout(resolve, Math.min(SETTLE_MS, timeoutMs)));
  await events.close(timeoutMs);
}

voice.serve({ metrics, attach: detector.attach, reconnect: (_, port) => events.reconnect(port), drain });
for (const port of tap) detector.attach(port);
voice.listening({});
