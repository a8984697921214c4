import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { createMetrics } from "#kernel/metrics.ts";
import type { FromWorker, ToWorker } from "#kernel/worker-protocol.ts";
import type { FeedLog } from "#snapshot/feed.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { openReplica } from "#snapshot/replica.ts";
import type { NameserverConfig } from "./config.ts";
import { createNameserver } from "./nameserver.ts";

/** What the main thread gives a nameserver worker. */
export interface NameserverWorkerData {
  readonly name: string;
  readonly config: NameserverConfig;
  readonly feed: MessagePort;
  readonly lastGoodPath: string;
}

if (parentPort) await run(parentPort, workerData as NameserverWorkerData);

/** The nameserver as a thread: replica in, sockets out, and the words of worker-protocol.ts. */
async function run(parent: MessagePort, { name, config, feed, lastGoodPath }: NameserverWorkerData): Promise<void> {
  const post = (message: FromWorker): void => parent.postMessage(message);
  const log: FeedLog = (level, message, fields) => post({ type: "log", level, message, ...(fields === undefined ? {} : { fields }) });
  const metrics = createMetrics();
  const replica = await openReplica({ port: createMessagePortFeed(feed), name, lastGoodPath, log });
  const nameserver = createNameserver({ replica, metrics, config });
  parent.on("message", (message: ToWorker) => {
    if (message.type === "metrics") post({ type: "metrics", request: message.request, samples: metrics.samples() });
    else void drain(message.timeoutMs);
  });
  const drain = async (timeoutMs: number): Promise<void> => {
    await nameserver.close(timeoutMs);
    replica.close();
    post({ type: "drained" });
  };
  post({ type: "listening", addresses: await nameserver.listen() });
}
