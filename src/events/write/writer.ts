import { statfsSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type MessagePort, parentPort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { begins, ROWS } from "#kernel/process/heartbeat.ts";
import { createStallWatch, type Stall } from "#kernel/process/stall-watch.ts";
import { workOfThread } from "#kernel/process/worker-bootstrap.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { runInBackground } from "#kernel/process/thread-priority.ts";
import { createWorkerChannel, type DrainTimes } from "#kernel/process/worker-protocol.ts";
import { createDiskReserve } from "#events/retention/disk-reserve.ts";
import { createDiskQuota, type Volume } from "#events/retention/disk-quota.ts";
import { isFull } from "#events/database/full-disk.ts";
import { namesMaxOf } from "#events/database/dictionary-store.ts";
import { loadRowMasker } from "./lazy-masker.ts";
import { createNodeBatches } from "./node-batches.ts";
import { createLogIndexer } from "#events/logs/indexer.ts";
import type { RowsMessage } from "#events/rows/messages.ts";
import type { BatchAnswer, BatchMessage } from "#events/rows/node-batch.ts";
import { bytesIn } from "#events/rows/packed-rows.ts";
import { openRepairedDatabase } from "#events/database/repair.ts";
import { createSteadyTime } from "#events/retention/guarded-clock.ts";
import { createMaintenance } from "#events/retention/maintenance.ts";
import { createWaitingBatches } from "./write-queue.ts";
import { reserveOf, type WriterData } from "./writer-config.ts";
import { openRowPlaces } from "./row-places.ts";
import { logSegmentsOf } from "#events/logs/segment.ts";

/**
 * The thread that owns the events database. Says `listening` once it is open; takes rows from the ports it was started
 * with and from later ones by `attach`; on `drain` it commits the received rows, closes the database and ends.
 */
const main = parentPort;
if (main === null) throw new Error("events/write/writer.ts runs as a worker thread");
runInBackground();

const { path, ports, retention: limits, control, mayOpen, clickHouse } = await workOfThread<WriterData>();
const RETENTION_EVERY_MS = 30_000;
const RETENTION_PAUSE_MS = 20;
/** Interval between checks of the gateway's segments; new records are read at once. */
const SEGMENTS_EVERY_MS = 100;
const SEGMENTS_RETRY_MS = 1_000;
const HANDED_OVER_POLL_MS = 20;
/** Rows of a step take less. */
const INDEX_BYTES = 1024 * 1024;

const STANDARD_ERROR = 2;

const voice = createWorkerChannel(main);
const { nowMs, monotonicMs } = systemClock;
const metrics = createMetrics();
if (control !== undefined) watchControl(control);
if (mayOpen !== undefined) await opensAfter(mayOpen);
const steadyMs = createSteadyTime({
  ...{ nowMs, monotonicMs, writtenMs: writtenMs() },
  jumped: (aheadMs) =>
    voice.log("warn", "the clock jumped ahead; age-based deletion is paused for a day", { aheadMs: Math.round(aheadMs) }),
});
const reserve = createDiskReserve(reserveOf(path), () => volume().free);
const database = openRepairedDatabase({
  ...{ path, nowMs, namesMax: namesMaxOf(limits.bytes) },
  damaged: (aside, error) => voice.log("error", "the events database cannot be used; created a new one", { aside, error: String(error) }),
  replaced: () =>
    voice.log("error", "the events database was removed or replaced while the server was running; continuing with the file that is there"),
  full: (error) => {
    if (reserve.release()) return true;
    voice.log("error", "the disk is full; events are dropped until space is available", { error: String(error) });
    return false;
  },
});
const fileBytes = metrics.gauge("selvedge_events_database_bytes", "Size of the events database, without free pages");
const damagedLogs = metrics.counter("selvedge_gateway_logs_corrupt_total", "Invalid records in gateway logs");
const attached = new Set<MessagePort>();
const indexer = createLogIndexer({
  directory: logSegmentsOf(path),
  logs: database.logs,
  damaged: (segment, at) => {
    damagedLogs.value++;
    voice.log("warn", "a gateway log segment contains an invalid record", { segment, at });
  },
});
const room = createDiskQuota({
  ...{ database, segments: indexer, reserve, volume, monotonicMs },
  short: (reason) => {
    metrics.counter("selvedge_events_disk_full_deletions_total", "Times that events were deleted because the disk was full", { reason })
      .value++;
    voice.log("warn", "the disk is full; deleting the oldest events of the largest account", { reason });
  },
});
const masker = loadRowMasker(metrics, (error) =>
  voice.log("error", "the code that masks event rows failed to load; rows wait until it loads", { error: String(error) }),
);
const places = await openRowPlaces({ ...{ database, clickHouse, metrics, nowMs, monotonicMs, limits, log: voice.log }, eventsPath: path });
const nodeBatches = createNodeBatches({
  keep: places.keepBatch,
  ...{ database, metrics, clock: systemClock },
  directory: logSegmentsOf(path),
  makeRoom: room.ready,
  refused: ({ node, source, from }, reason) =>
    voice.log("error", "a node sent events that cannot be stored", { node, source, from, reason }),
});
const waiting = createWaitingBatches({
  insert: (tables) => {
    begins(ROWS, "insert");
    renew();
    const bytes = bytesIn(tables);
    room.ready(bytes);
    orAfter(
      () => room.make(bytes),
      () => places.insert(tables),
    );
  },
  ...{ masker, metrics, monotonicMs },
  failed: (error, { tables }) =>
    voice.log("error", "writing event rows failed", { error: String(error), rows: tables.map((part) => part.table) }),
});
const tidy = createMaintenance({
  ...{ database, segments: indexer, limits, room, nowMs: steadyMs },
  measured: (bytes) => (fileBytes.value = bytes),
  failed: (duty, error) => voice.log("error", "removing old events failed", { duty, error: String(error) }),
});

/** Must run before the database is opened, because opening writes. */
function writtenMs(): number | undefined {
  const times = ["", "-wal"].flatMap((part) => statSync(path + part, { throwIfNoEntry: false })?.mtimeMs ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

function volume(): Volume {
  const { bsize, blocks, bfree, bavail } = statfsSync(dirname(path));
  return { total: blocks * bsize, free: bavail * bsize, used: (blocks - bfree) * bsize };
}

/** A write that a full disk refuses is tried again once it has room. */
function orAfter<T>(makeRoom: () => boolean, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isFull(error) || !makeRoom()) throw error;
    return work();
  }
}

function attach(port: MessagePort): void {
  attached.add(port);
  port.on("message", (message: RowsMessage | BatchMessage) => {
    if (message.type === "rows") waiting.add(port, message);
    else port.postMessage({ ...nodeBatches.take(message.batch), request: message.request } satisfies BatchAnswer);
  });
  port.on("close", () => attached.delete(port));
}

/** Segments whose rows another database does not have are read again. */
function renew(): void {
  if (database.follow()) indexer.restart();
}

function tidyAgain(): void {
  renew();
  places.tidy(steadyMs() - limits.ageMs);
  retentionTimer = setTimeout(tidyAgain, tidy() ? RETENTION_PAUSE_MS : RETENTION_EVERY_MS);
}

/** Records that could not be written are read again later: segments keep them. */
function follow(): void {
  let pauseMs = SEGMENTS_EVERY_MS;
  try {
    renew();
    if (orAfter(() => room.make(INDEX_BYTES), indexer.step)) pauseMs = 0;
  } catch (error) {
    pauseMs = SEGMENTS_RETRY_MS;
    voice.log("error", "writing gateway logs failed", { error: String(error) });
  }
  segmentsTimer = setTimeout(follow, pauseMs);
}

let isHandedOver = false;
let segmentsTimer = setTimeout(follow, 0);
let retentionTimer = setTimeout(tidyAgain, RETENTION_PAUSE_MS);

/**
 * The process that takes over writes segments from now on, while our gateway still finishes its requests: only its writer,
 * which opens the database after us, knows when a segment is over.
 */
function handOver(): void {
  isHandedOver = true;
  clearTimeout(segmentsTimer);
}

/** Two writers would give the same numbers to different texts. */
async function opensAfter(memory: SharedArrayBuffer): Promise<void> {
  const flag = new Int32Array(memory);
  while (Atomics.load(flag, 0) === 0) await pause(HANDED_OVER_POLL_MS);
}

async function drain({ timeoutMs }: DrainTimes): Promise<void> {
  const end = monotonicMs() + timeoutMs;
  await waiting.drain(timeoutMs);
  clearTimeout(retentionTimer);
  clearTimeout(segmentsTimer);
  if (isHandedOver) indexer.close();
  else readRest(end);
  for (const port of attached) port.close();
  nodeBatches.close();
  await places.close();
  database.close();
}

function readRest(end: number): void {
  try {
    while (monotonicMs() < end && indexer.step());
  } catch (error) {
    voice.log("error", "writing gateway logs failed", { error: String(error) });
  }
  indexer.close();
}

voice.serve({ metrics, attach, handOver, drain });
for (const port of ports) attach(port);
voice.listening({});
giveBackHeapWhenQuiet();

/** A blocked main thread writes no log, so this thread does: an operator can read the reason. */
function watchControl(memory: SharedArrayBuffer): void {
  const write = ({ thread, begun, stalledMs }: Stall): void => {
    const line = { level: 50, time: nowMs(), pid: process.pid, thread, begun, stalled_ms: stalledMs, msg: "thread is unresponsive" };
    try {
      writeSync(STANDARD_ERROR, `${JSON.stringify(line)}\n`);
    } catch {
      // The output has no reader.
    }
  };
  createStallWatch({ clock: systemClock, onStall: write, onOver: () => undefined }).add("control", memory);
}
