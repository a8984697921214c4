import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/metrics.ts";
import type { FromWorker, ToWorker } from "#kernel/worker-protocol.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { openReplica } from "#snapshot/replica.ts";
import { createEventSink } from "#events/sink.ts";
import type { GatewayWorkerData } from "./config.ts";
import { createGateway } from "./gateway.ts";

/** The gateway plane's thread: opens its copy of the snapshot, listens, and answers the main thread. */
const data = workerData as GatewayWorkerData;
const post = (message: FromWorker): void => parentPort?.postMessage(message);

const metrics = createMetrics();
const events = createEventSink({ port: data.events, metrics });
const replica = await openReplica({
  port: createMessagePortFeed(data.feed),
  name: data.name,
  lastGoodPath: data.lastGoodPath,
  log: (level, message, fields) => post({ type: "log", level, message, ...(fields === undefined ? {} : { fields }) }),
});
const gateway = createGateway({ replica, events, clock: systemClock, metrics, config: data.config });

const drain = async (timeoutMs: number): Promise<void> => {
  await gateway.close(timeoutMs);
  // After the last request has its row.
  await events.close();
  replica.close();
  post({ type: "drained" });
};

parentPort?.on("message", (message: ToWorker) => {
  switch (message.type) {
    case "metrics":
      post({ type: "metrics", request: message.request, samples: metrics.samples() });
      break;
    case "drain":
      void drain(message.timeoutMs);
      break;
  }
});

const { port } = await gateway.listen();
post({ type: "listening", addresses: { http: port } });
