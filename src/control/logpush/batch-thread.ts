import { type MessagePort, parentPort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { runInBackground } from "#kernel/process/thread-priority.ts";
import { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import { batchReader } from "./batch-order.ts";
import type { BatchAnswer, BatchRequest } from "./thread-batches.ts";

/** A thread that reads, encrypts and compresses pushed logs, so that the API is not delayed. */
const main = parentPort;
if (main === null) throw new Error("control/logpush/batch-thread.ts runs as a worker thread");

runInBackground();
const voice = createWorkerChannel(main);
const metrics = createMetrics();
const records = metrics.counter("selvedge_logpush_records_total", "Gateway logs written to files for Logpush jobs");
const read = batchReader(systemClock);
const attached = new Set<MessagePort>();

async function answer({ request, order }: BatchRequest): Promise<BatchAnswer> {
  try {
    const batch = await read(order);
    records.value += batch.records;
    return { request, batch };
  } catch (error) {
    return { request, error: error instanceof Error ? error.message : String(error) };
  }
}

function attach(port: MessagePort): void {
  attached.add(port);
  port.on("message", (message: BatchRequest) => void answer(message).then((reply) => port.postMessage(reply)));
  port.on("close", () => attached.delete(port));
}

async function drain(): Promise<void> {
  for (const port of attached) port.close();
}

voice.serve({ metrics, attach, drain });
voice.listening({});
giveBackHeapWhenQuiet();
