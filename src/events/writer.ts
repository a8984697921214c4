import { type MessagePort, parentPort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { givenWork } from "#kernel/given-work.ts";
import { giveBackHeapWhenQuiet } from "#kernel/heap.ts";
import { createMetrics } from "#kernel/metrics.ts";
import { runInBackground } from "#kernel/thread-priority.ts";
import { createWorkerVoice } from "#kernel/worker-protocol.ts";
import { FINDABLE_CHARS_MIN } from "#rules/detectors/findable.ts";
import { createLogIndexer } from "./logs/indexer.ts";
import { createRowMasker, hasTexts, type RowMasker } from "./masked-rows.ts";
import type { RowsMessage, WrittenMessage } from "./messages.ts";
import { type PackedRows, rowsIn } from "./packed-rows.ts";
import { namesMaxOf } from "./facet-store.ts";
import { openRepairedDatabase } from "./repair.ts";
import { retentionStep, type RetentionLimits } from "./retention.ts";
import { logSegmentsOf, type WriterData } from "./writer-config.ts";

/**
 * The thread that owns the events database. Says `listening` once it is open; takes rows from the ports it
 * was started with and from those that come later by `attach`; on `drain` it commits what has arrived,
 * closes the database and ends.
 */
const main = parentPort;
if (main === null) throw new Error("events/writer.ts runs as a worker thread");
runInBackground();

const { path, ports, retention } = await givenWork<WriterData>();
const limits: RetentionLimits = retention;
/** What arrives within this time is written together. */
const GATHER_MS = 10;
const RETENTION_EVERY_MS = 30_000;
const RETENTION_PAUSE_MS = 20;
/** How often the segments of the gateway are looked at; what is there is read at once. */
const SEGMENTS_EVERY_MS = 100;
const SEGMENTS_RETRY_MS = 1_000;
/** Few enough that looking for them keeps no batch waiting. */
const FACETS_AT_ONCE = 1_000;
const USAGE_KEPT_MS = 400 * 86_400_000;

const voice = createWorkerVoice(main);
const database = openRepairedDatabase({
  path,
  nowMs: () => systemClock.nowMs(),
  namesMax: namesMaxOf(limits.bytes),
  damaged: (aside, error) => voice.log("error", "the events database is damaged; a new one was begun", { aside, error: String(error) }),
});
const metrics = createMetrics();
const written = metrics.counter("selvedge_events_written_batches_total", "Batches of event rows committed");
const failed = metrics.counter("selvedge_events_failed_batches_total", "Batches of event rows that could not be written");
const writtenRows = metrics.counter("selvedge_events_written_rows_total", "Event rows committed");
const failedRows = metrics.counter("selvedge_events_failed_rows_total", "Event rows that could not be written");
const writeSeconds = metrics.counter("selvedge_events_write_seconds_total", "Time spent writing event rows");
const waitingRows = metrics.gauge("selvedge_events_waiting_rows", "Event rows that have arrived and are not yet written");
const lagSeconds = metrics.gauge(
  "selvedge_events_writer_lag_seconds",
  "Time from the arrival of event rows to their commit, of the last write",
);
const fileBytes = metrics.gauge("selvedge_events_database_bytes", "Size of the events database, without free pages");
const attached = new Set<MessagePort>();
const indexer = createLogIndexer({
  directory: logSegmentsOf(path),
  logs: database.logs,
  damaged: (segment, at) => voice.log("warn", "a segment of gateway logs ends in what is no record", { segment, at }),
});

interface Waiting {
  readonly port: MessagePort;
  readonly message: RowsMessage;
}

/** Hides in what visitors wrote what nobody should keep; null until the first text comes in which something could be. */
let maskRows: RowMasker | null = null;
let maskLoading: Promise<void> | undefined;

/** Loads the detectors, which most of an idle server's life nobody needs; what waits is written then. */
async function loadMask(): Promise<void> {
  const { createTextMasker } = await import("#rules/detectors/text-masker.ts");
  maskRows = createRowMasker(createTextMasker());
  if (waiting.length > 0) writeWaiting();
}

const needsMask = (): boolean =>
  maskRows === null && waiting.some(({ message }) => message.tables.some((packed) => hasTexts(packed, FINDABLE_CHARS_MIN)));

const masked = ({ tables }: RowsMessage): readonly PackedRows[] => (maskRows === null ? tables : tables.map(maskRows));

/** Batches that wait to be written together: what several threads send at one time is one transaction. */
let waiting: Waiting[] = [];
let gather: NodeJS.Timeout | undefined;

function attach(port: MessagePort): void {
  attached.add(port);
  port.on("message", (message: RowsMessage) => {
    gather ??= setTimeout(writeGathered, GATHER_MS);
    waiting.push({ port, message });
    waitingRows.value += rowsIn(message.tables);
  });
  port.on("close", () => attached.delete(port));
}

function writeGathered(): void {
  if (needsMask()) void (maskLoading ??= loadMask());
  else writeWaiting();
}

function writeWaiting(): void {
  const startMs = systemClock.monotonicMs();
  clearTimeout(gather);
  gather = undefined;
  const all = waiting;
  waiting = [];
  waitingRows.value = 0;
  try {
    database.insert(all.flatMap(({ message }) => masked(message)));
    written.value += all.length;
    for (const { message } of all) writtenRows.value += rowsIn(message.tables);
  } catch {
    // One that cannot be written must not take the others along.
    for (const { message } of all) writeAlone(message);
  }
  const seconds = (systemClock.monotonicMs() - startMs) / 1000;
  writeSeconds.value += seconds;
  lagSeconds.value = GATHER_MS / 1000 + seconds;
  for (const { port, message } of all) port.postMessage({ type: "written", batch: message.batch } satisfies WrittenMessage);
}

function writeAlone(message: RowsMessage): void {
  try {
    database.insert(masked(message));
    written.value++;
    writtenRows.value += rowsIn(message.tables);
  } catch (error) {
    // A full disk must not end the thread: the rows are lost and counted, the next batch is tried again.
    failed.value++;
    failedRows.value += rowsIn(message.tables);
    voice.log("error", "event rows could not be written", { error: String(error), rows: message.tables.map((part) => part.table) });
  }
}

function tidy(): void {
  let more = false;
  try {
    const nowMs = systemClock.nowMs();
    more = retentionStep(database, limits, nowMs);
    fileBytes.value = database.usedBytes();
    if (!more) {
      database.deleteUnusedFacets(FACETS_AT_ONCE);
      database.logs.deleteUsageBefore(nowMs - USAGE_KEPT_MS);
      indexer.tidy(limits.segmentBytes ?? Infinity);
    }
  } catch (error) {
    voice.log("error", "old event rows could not be deleted", { error: String(error) });
  }
  retentionTimer = setTimeout(tidy, more ? RETENTION_PAUSE_MS : RETENTION_EVERY_MS);
}

/** What could not be written is read again later: segments keep it. */
function follow(): void {
  let pauseMs = SEGMENTS_EVERY_MS;
  try {
    if (indexer.step()) pauseMs = 0;
  } catch (error) {
    pauseMs = SEGMENTS_RETRY_MS;
    voice.log("error", "gateway logs could not be written", { error: String(error) });
  }
  segmentsTimer = setTimeout(follow, pauseMs);
}

let segmentsTimer = setTimeout(follow, 0);
let retentionTimer = setTimeout(tidy, RETENTION_PAUSE_MS);

/** Waits until no port has brought anything for a turn of the loop, within the time. */
async function drain(timeoutMs: number): Promise<void> {
  const end = systemClock.monotonicMs() + timeoutMs;
  let before = -1;
  while ((before !== written.value + failed.value || waiting.length > 0) && systemClock.monotonicMs() < end) {
    before = written.value + failed.value;
    await new Promise((resolve) => setTimeout(resolve, RETENTION_PAUSE_MS));
  }
  if (needsMask()) await (maskLoading ??= loadMask());
  if (waiting.length > 0) writeWaiting();
  clearTimeout(retentionTimer);
  clearTimeout(segmentsTimer);
  readRest(end);
  for (const port of attached) port.close();
  database.close();
}

function readRest(end: number): void {
  try {
    while (systemClock.monotonicMs() < end && indexer.step());
  } catch (error) {
    voice.log("error", "gateway logs could not be written", { error: String(error) });
  }
  indexer.close();
}

voice.serve({ metrics, attach, drain });
for (const port of ports) attach(port);
voice.listening({});
giveBackHeapWhenQuiet();
