import { type MessagePort, parentPort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { workOfThread } from "#kernel/process/worker-bootstrap.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { readPlaneSealer } from "#kernel/crypto/plane-keys.ts";
import { runInBackground, systemThread } from "#kernel/process/thread-priority.ts";
import { createWorkerChannel, type DrainTimes } from "#kernel/process/worker-protocol.ts";
import { createEventSink } from "#events/write/sink.ts";
import { createValueHash, VALUE_HASH_PURPOSE } from "#rules/detectors/engine/value-hash.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { openReplica } from "#snapshot/replica.ts";
import { createDetector } from "./detector.ts";

/** `workerData` of edge/detection/worker.ts. Ports are transferred; more tees are attached by `{ type: "attach", port }`. */
export interface DetectorWorkerData {
  readonly tap: readonly MessagePort[];
  /** To the events writer. */
  readonly events: MessagePort;
  /** The settings of zones' owners. */
  readonly feed: MessagePort;
  readonly lastGoodPath: string;
  /** File of 32 bytes, from which the key of value hashes is derived. */
  readonly sealKeyPath: string;
}

const main = parentPort;
if (main === null) throw new Error("edge/detection/worker.ts runs as a worker thread");
runInBackground();

const { tap, events: eventsPort, feed, lastGoodPath, sealKeyPath } = await workOfThread<DetectorWorkerData>();
const metrics = createMetrics();
const events = createEventSink({ port: eventsPort, metrics });
const voice = createWorkerChannel(main);
const replica = await openReplica({
  port: createMessagePortFeed(feed),
  name: "detector",
  kinds: ["detection"],
  lastGoodPath,
  log: voice.log,
});
const detector = createDetector({
  ...{ events, metrics },
  clock: systemClock,
  thread: systemThread(),
  policies: (id) => replica.snapshot.get("detection", id),
  valueHash: createValueHash(readPlaneSealer(sealKeyPath).derive(VALUE_HASH_PURPOSE)),
});

// Time for the tees' last bytes, and for decoders, to arrive.
const SETTLE_MS = 50;

async function drain({ timeoutMs }: DrainTimes): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.min(SETTLE_MS, timeoutMs)));
  detector.close();
  await new Promise((resolve) => setTimeout(resolve, Math.min(SETTLE_MS, timeoutMs)));
  replica.close();
  await events.close(timeoutMs);
}

voice.serve({ metrics, attach: detector.attach, reconnect: (_, port) => events.reconnect(port), drain });
for (const port of tap) detector.attach(port);
voice.listening({});
giveBackHeapWhenQuiet({ workDone: detector.readBytes });
