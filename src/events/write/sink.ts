import type { MessagePort } from "node:worker_threads";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import { maskingsIn } from "./mask-rows.ts";
import type { LogMasking, RowsMessage, WrittenMessage } from "#events/rows/messages.ts";
import type { PackedRows } from "#events/rows/packed-rows.ts";
import { RequestPacker } from "#events/rows/request-packer.ts";
import { RowPacker } from "#events/rows/row-packer.ts";
import type { EventSink, EventTable, RequestSink } from "#events/rows/rows.ts";
import { EVENT_TABLES } from "#events/rows/schema.ts";

export interface EventSinkDeps {
  /** To the writer thread; the sink closes it. */
  readonly port: MessagePort;
  readonly metrics: MetricRegistry;
  /** A zone's setting; absent: the default masking for every zone. */
  readonly maskingOf?: (zoneId: string) => LogMasking | undefined;
  /** Longest time a row waits before it is sent. */
  readonly flushMs?: number;
  /** Limit of rows that are waiting or sent but not yet committed; more are dropped and counted. */
  readonly rowsMax?: number;
}

export interface ClosableEventSink extends EventSink, RequestSink {
  /** The writer has restarted and takes rows here; rows sent to the old one may be lost. */
  reconnect(port: MessagePort): void;
  /** Sends the waiting rows and resolves when all are committed, or after `timeoutMs`. */
  close(timeoutMs?: number): Promise<void>;
}

/** Many rows at once cost the writer less each: waking it and ending a transaction cost as much as several hundred rows. */
const FLUSH_MS = 100;
const FLUSH_ROWS = 4000;
const ROWS_MAX = 50_000;
/** Limits of a table's text in a batch, and of all waiting and sent text: all rows may be long. */
const FLUSH_TEXT_UNITS = 4 * 1024 * 1024;
const TEXT_UNITS_MAX = 64 * 1024 * 1024;
const CLOSE_MS = 2000;

/** Collects rows of one thread and sends them to the writer in batches. */
export function createEventSink({
  port: firstPort,
  metrics,
  maskingOf,
  flushMs = FLUSH_MS,
  rowsMax = ROWS_MAX,
}: EventSinkDeps): ClosableEventSink {
  const dropped = new Map(
    EVENT_TABLES.map((table): [EventTable, Metric] => [
      table,
      metrics.counter("selvedge_events_dropped_total", "Event rows dropped because the writer was behind", { table }),
    ]),
  );
  const unconfirmed = metrics.counter(
    "selvedge_events_unconfirmed_rows_total",
    "Event rows sent to a writer that stopped before it confirmed the commit",
  );
  const packers = new Map<EventTable, RowPacker>();
  const requests = new RequestPacker();
  const sent = new Map<number, Sent>();
  let waitingRows = 0;
  let sentRows = 0;
  let sentUnits = 0;
  let batch = 0;
  let closed = false;
  /** Null while the writer is gone. */
  let port: MessagePort | null = null;
  let timer: NodeJS.Timeout | undefined;
  let onIdle: (() => void) | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waitingRows === 0 || port === null) return;
    batch++;
    const filled = [requests, ...packers.values()].filter((packer) => packer.rows > 0);
    const under: Sent = { rows: waitingRows, units: filled.reduce((units, packer) => units + packer.units, 0) };
    const tables = filled.map((packer): PackedRows => packer.take());
    const maskings = maskingOf === undefined ? null : maskingsIn(tables, maskingOf);
    const message: RowsMessage = { type: "rows", batch, tables, ...(maskings === null ? {} : { maskings }) };
    port.postMessage(message);
    sent.set(batch, under);
    sentRows += under.rows;
    sentUnits += under.units;
    waitingRows = 0;
  };

  const forgetSent = (): void => {
    unconfirmed.value += sentRows;
    sent.clear();
    sentRows = sentUnits = 0;
    onIdle?.();
  };

  const connect = (next: MessagePort): void => {
    port = next;
    next.on("message", (message: WrittenMessage) => {
      sentRows -= sent.get(message.batch)?.rows ?? 0;
      sentUnits -= sent.get(message.batch)?.units ?? 0;
      sent.delete(message.batch);
      if (sentRows === 0) onIdle?.();
    });
    // A writer that is gone commits nothing more; rows pushed meanwhile wait for the next one, up to the limit.
    next.on("close", () => {
      if (port !== next) return;
      port = null;
      forgetSent();
    });
    next.unref();
  };
  connect(firstPort);

  const hasRoom = (units: number): boolean => !closed && waitingRows + sentRows < rowsMax && units + sentUnits < TEXT_UNITS_MAX;

  const drop = (table: EventTable, rows: number): void => {
    const counter = dropped.get(table);
    if (counter !== undefined) counter.value += rows;
  };

  const added = (rows: number, units: number): void => {
    waitingRows += rows;
    if (waitingRows >= FLUSH_ROWS || units >= FLUSH_TEXT_UNITS) flush();
    else timer ??= setTimeout(flush, flushMs).unref();
  };

  return {
    push: (table, row) => {
      let packer = packers.get(table);
      if (packer === undefined) packers.set(table, (packer = new RowPacker(table)));
      if (!hasRoom(packer.units)) return drop(table, 1);
      packer.push(row);
      added(1, packer.units);
    },
    pushRequest: (row, events) => {
      if (!hasRoom(requests.units)) {
        drop("requests", 1);
        return drop("security_events", events.length);
      }
      requests.push(row, events);
      added(1 + events.length, requests.units);
    },
    reconnect: (next) => {
      forgetSent();
      connect(next);
      flush();
    },
    close: async (timeoutMs = CLOSE_MS) => {
      flush();
      closed = true;
      if (sentRows > 0) await idleWithin(timeoutMs);
      port?.close();
      port = null;
    },
  };

  function idleWithin(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const limit = setTimeout(resolve, timeoutMs);
      onIdle = () => {
        clearTimeout(limit);
        resolve();
      };
    });
  }
}

/** A batch on its way to the writer. */
interface Sent {
  readonly rows: number;
  readonly units: number;
}
