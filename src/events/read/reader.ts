import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { PlatformError } from "#kernel/errors/errors.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { systemClock } from "#kernel/clock.ts";
import { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import { type EventQueries, openEventQueries } from "./queries.ts";
import type { ReadMessage, ReadReply } from "./read-client.ts";

/** The thread that answers possibly slow queries about events. `workerData`: the path of the events database. */
const main = parentPort;
if (main === null) throw new Error("events/read/reader.ts runs as a worker thread");

const voice = createWorkerChannel(main);
const queries = openEventQueries((workerData as { readonly path: string }).path);
const metrics = createMetrics();
const reads = metrics.counter("selvedge_events_reads_total", "Event queries answered");
const seconds = metrics.counter("selvedge_events_read_seconds_total", "Time spent on event queries");
const attached = new Set<MessagePort>();

function attach(port: MessagePort): void {
  attached.add(port);
  port.on("message", (message: ReadMessage) => port.postMessage(answer(message)));
  port.on("close", () => attached.delete(port));
}

function answer({ request, name, args }: ReadMessage): ReadReply {
  const startMs = systemClock.monotonicMs();
  try {
    const ask = queries[name] as (...args: readonly unknown[]) => ReturnType<EventQueries[typeof name]>;
    return { request, result: ask(...args) };
  } catch (error) {
    if (error instanceof PlatformError) return { request, error: { name: error.errorName, message: error.message } };
    voice.log("error", "an event query failed", { question: name, error: String(error) });
    return { request, error: { name: "internal", message: new PlatformError("internal").message } };
  } finally {
    reads.value++;
    seconds.value += (systemClock.monotonicMs() - startMs) / 1000;
  }
}

async function drain(): Promise<void> {
  for (const port of attached) port.close();
  queries.close();
}

voice.serve({ metrics, attach, drain });
voice.listening({});
giveBackHeapWhenQuiet();
