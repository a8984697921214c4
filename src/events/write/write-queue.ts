import { setTimeout as pause } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { FINDABLE_CHARS_MIN } from "#rules/detectors/engine/findable.ts";
import type { LazyMasker } from "./lazy-masker.ts";
import { hasTexts } from "./mask-rows.ts";
import type { RowsMessage, WrittenMessage } from "#events/rows/messages.ts";
import { type PackedRows, rowsIn } from "#events/rows/packed-rows.ts";

export interface WaitingBatchesDeps {
  /** All or nothing. */
  insert(tables: readonly PackedRows[]): void;
  readonly masker: LazyMasker;
  readonly metrics: MetricRegistry;
  monotonicMs(): number;
  failed(error: unknown, message: RowsMessage): void;
}

/** Batches that have arrived and are not yet committed: batches that several threads send at one time become one transaction. */
export interface WaitingBatches {
  add(port: MessagePort, message: RowsMessage): void;
  /** Writes all it can now, and the rest once the masker is loaded. */
  write(): void;
  /** Waits until a tick passes without new batches, writes all, and gives up batches for which the masker does not load in time. */
  drain(timeoutMs: number): Promise<void>;
}

interface Waiting {
  readonly port: MessagePort;
  readonly message: RowsMessage;
}

/** Batches that arrive within this time are written together. */
const GATHER_MS = 10;
const TURN_MS = 20;

export function createWaitingBatches({ insert, masker, metrics, monotonicMs, failed: onFailed }: WaitingBatchesDeps): WaitingBatches {
  const written = metrics.counter("selvedge_events_written_batches_total", "Batches of event rows committed");
  const failed = metrics.counter("selvedge_events_failed_batches_total", "Batches of event rows that could not be written");
  const writtenRows = metrics.counter("selvedge_events_written_rows_total", "Event rows committed");
  const failedRows = metrics.counter("selvedge_events_failed_rows_total", "Event rows that could not be written");
  const writeSeconds = metrics.counter("selvedge_events_write_seconds_total", "Time spent writing event rows");
  const waitingRows = metrics.gauge("selvedge_events_waiting_rows", "Event rows waiting to be written");
  const lagSeconds = metrics.gauge("selvedge_events_writer_lag_seconds", "Time between arrival and commit of event rows in the last write");
  let waiting: Waiting[] = [];
  let gather: NodeJS.Timeout | undefined;
  let isHeld = false;

  const canBeWritten = ({ message }: Waiting): boolean =>
    masker.current() !== null || !message.tables.some((packed) => hasTexts(packed, FINDABLE_CHARS_MIN));

  const masked = ({ tables, maskings }: RowsMessage): readonly PackedRows[] => {
    const mask = masker.current();
    return mask === null ? tables : tables.map((packed) => mask(packed, maskings));
  };

  const wrote = (message: RowsMessage): void => {
    written.value++;
    writtenRows.value += rowsIn(message.tables);
  };

  const lost = (message: RowsMessage, error: unknown): void => {
    failed.value++;
    failedRows.value += rowsIn(message.tables);
    onFailed(error, message);
  };

  const writeAlone = (message: RowsMessage): void => {
    try {
      insert(masked(message));
      wrote(message);
    } catch (error) {
      // A full disk must not end the thread: the rows are lost and counted, and the next batch is tried again.
      lost(message, error);
    }
  };

  const writeAll = (batches: readonly Waiting[]): void => {
    if (batches.length === 0) return;
    const startMs = monotonicMs();
    try {
      insert(batches.flatMap(({ message }) => masked(message)));
      for (const { message } of batches) wrote(message);
    } catch {
      // A batch that cannot be written must not prevent the others.
      for (const { message } of batches) writeAlone(message);
    }
    const seconds = (monotonicMs() - startMs) / 1000;
    writeSeconds.value += seconds;
    lagSeconds.value = GATHER_MS / 1000 + seconds;
    settle(batches);
  };

  const settle = (batches: readonly Waiting[]): void => {
    for (const { port, message } of batches) port.postMessage({ type: "written", batch: message.batch } satisfies WrittenMessage);
  };

  const write = (): void => {
    clearTimeout(gather);
    gather = undefined;
    const { ready = [], held = [] } = Object.groupBy(waiting, (batch) => (canBeWritten(batch) ? "ready" : "held"));
    waiting = held;
    waitingRows.value = held.reduce((sum, { message }) => sum + rowsIn(message.tables), 0);
    writeAll(ready);
    if (held.length > 0 && !isHeld) {
      isHeld = true;
      void masker.loaded().then(write);
    }
  };

  const done = (): number => written.value + failed.value;

  return {
    add: (port, message) => {
      gather ??= setTimeout(write, GATHER_MS);
      waiting.push({ port, message });
      waitingRows.value += rowsIn(message.tables);
    },
    write,
    drain: async (timeoutMs) => {
      const end = monotonicMs() + timeoutMs;
      let before = -1;
      while ((before !== done() || waiting.length > 0) && monotonicMs() < end) {
        before = done();
        await pause(TURN_MS);
      }
      write();
      if (waiting.length > 0) await within(end - monotonicMs(), masker.loaded());
      write();
      for (const { message } of waiting) lost(message, new Error("they could not be checked for sensitive data"));
      settle(waiting);
      waiting = [];
    },
  };
}

function within(limitMs: number, promise: Promise<void>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const limit = setTimeout(resolve, Math.max(0, limitMs));
  return Promise.race([promise, over]).finally(() => clearTimeout(limit));
}
