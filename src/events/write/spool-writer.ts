import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type MessagePort, parentPort } from "node:worker_threads";
import { zstdCompressSync } from "node:zlib";
import { systemClock } from "#kernel/clock.ts";
import { workOfThread } from "#kernel/process/worker-bootstrap.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { runInBackground } from "#kernel/process/thread-priority.ts";
import { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import { logSegmentsOf } from "#events/logs/segment.ts";
import type { RowsMessage } from "#events/rows/messages.ts";
import type { BatchAnswer, BatchRange, BatchSource, NodePlace, SendMessage } from "#events/rows/node-batch.ts";
import { encodeRows } from "#events/rows/rows-form.ts";
import { type BatchSender, createBatchSender } from "#events/spool/batch-sender.ts";
import { epochOf } from "#events/spool/epoch.ts";
import { createLogFiles } from "#events/spool/log-files.ts";
import { type BatchFiles, createSpool, isFullError } from "#events/spool/spool.ts";
import { loadRowMasker } from "./lazy-masker.ts";
import { createWaitingBatches } from "./write-queue.ts";
import type { SpoolWriterData } from "./writer-config.ts";

/**
 * The thread of a node that keeps events on the node's disk and sends them to control. To the threads that send to it, it is the writer of
 * events (writer.ts): rows that it acknowledges are on disk.
 */
const main = parentPort;
if (main === null) throw new Error("events/write/spool-writer.ts runs as a worker thread");
runInBackground();

const { path, ports, retention, mayOpen, uplink } = await workOfThread<SpoolWriterData>();
const HANDED_OVER_POLL_MS = 20;
const TRIM_EVERY_MS = 1_000;
const ANSWER_LIMIT_MS = 60_000;
/** Packed rows while the disk is full: a hundred thousand or more. */
const MEMORY_BYTES_MAX = 8 * 1024 * 1024;

const voice = createWorkerChannel(main);
const metrics = createMetrics();
if (mayOpen !== undefined) {
  const flag = new Int32Array(mayOpen);
  while (Atomics.load(flag, 0) === 0) await pause(HANDED_OVER_POLL_MS);
}
const damage = metrics.counter("selvedge_events_spool_damaged_total", "Places in files of events at which the rest is not readable");
const seen = new Set<string>();
const damaged =
  (source: BatchSource) =>
  ({ segment, at }: NodePlace): void => {
    const place = `${source} ${segment} ${at}`;
    if (seen.has(place)) return;
    seen.add(place);
    damage.value++;
    voice.log("warn", "a file of events contains an invalid record", { source, segment, at });
  };
const spoolDirectory = join(dirname(path), "event-spool");
const logDirectory = logSegmentsOf(path);
const spool = createSpool({
  ...{ directory: spoolDirectory, bytesMax: retention.bytes, damaged: damaged("rows"), memoryBytesMax: MEMORY_BYTES_MAX },
  short: (isShort) =>
    isShort
      ? voice.log(
          "error",
          "the disk of events is full: event rows wait in memory, and are lost if the process ends before control has them",
        )
      : voice.log("info", "the disk of events has room again"),
});
const logs = createLogFiles({ directory: logDirectory, damaged: damaged("logs") });

const refusals = metrics.counter("selvedge_events_refused_batches_total", "Batches of events that control cannot store");
const lostLogs = metrics.counter("selvedge_events_spool_dropped_log_bytes_total", "Bytes of gateway logs deleted before control took them");
const fullRows = metrics.counter("selvedge_events_spool_full_total", "Times that event rows were dropped because the spool was full");
const gauges = (["rows", "logs"] as const).map((source) =>
  metrics.gauge(
    "selvedge_events_spool_bytes",
    "Bytes of events on this node's disk that control has not taken, with files that are not over",
    {
      source,
    },
  ),
);
const asked = new Map<number, (answer: BatchAnswer) => void>();
let lastRequest = 0;
uplink.on("message", (answer: BatchAnswer) => {
  asked.get(answer.request)?.(answer);
  asked.delete(answer.request);
});
const ask = (range: BatchRange, bytes: Uint8Array): Promise<BatchAnswer> => {
  const request = ++lastRequest;
  const { promise, resolve } = Promise.withResolvers<BatchAnswer>();
  const limit = setTimeout(() => resolve({ request, error: "no answer in time" }), ANSWER_LIMIT_MS).unref();
  asked.set(request, resolve);
  uplink.postMessage({ ...range, request, bytes } satisfies SendMessage);
  return promise.finally(() => {
    clearTimeout(limit);
    asked.delete(request);
  });
};
const send = (source: BatchSource, directory: string, files: BatchFiles): BatchSender =>
  createBatchSender({
    ...{ source, files, ask },
    epoch: epochOf(directory),
    refused: (range, reason) => {
      refusals.value++;
      voice.log("error", "control cannot store a batch of events, which is dropped", { reason, source, from: range.from, to: range.to });
    },
  });
const rowSender = send("rows", spoolDirectory, spool);
const logSender = send("logs", logDirectory, logs);

let isFull = false;
const waiting = createWaitingBatches({
  insert: (tables) => {
    spool.append(tables.map((table) => zstdCompressSync(encodeRows(table))));
    isFull = false;
    rowSender.wake();
  },
  masker: loadRowMasker(metrics, (error) =>
    voice.log("error", "the code that masks event rows failed to load; rows wait until it loads", { error: String(error) }),
  ),
  ...{ metrics, monotonicMs: systemClock.monotonicMs },
  failed: (error, { tables }) => {
    const wasFull = isFull;
    isFull = isFullError(error);
    if (isFull) fullRows.value++;
    // Said once while it lasts; metrics count each row.
    if (!isFull || !wasFull)
      voice.log("error", "writing event rows failed", { error: String(error), rows: tables.map((part) => part.table) });
  },
});
const attached = new Set<MessagePort>();
function attach(port: MessagePort): void {
  attached.add(port);
  port.on("message", (message: RowsMessage) => waiting.add(port, message));
  port.on("close", () => attached.delete(port));
}

const trim = setInterval(() => {
  const lost = logs.trim(retention.segmentBytes ?? Infinity, logSender.place());
  lostLogs.value += lost;
  if (lost > 0) voice.log("warn", "gateway logs were deleted before control took them", { bytes: lost });
  for (const [i, files] of [spool, logs].entries()) gauges[i]!.value = files.bytes();
}, TRIM_EVERY_MS).unref();

voice.serve({
  metrics,
  attach,
  // The process that takes over begins segments while our gateway finishes its requests.
  handOver: () => logSender.stop(),
  drain: async ({ timeoutMs }) => {
    await waiting.drain(timeoutMs);
    clearInterval(trim);
    for (const sender of [rowSender, logSender]) sender.stop();
    for (const port of attached) port.close();
    uplink.close();
    spool.close();
  },
});
for (const port of ports) attach(port);
voice.listening({});
giveBackHeapWhenQuiet();
