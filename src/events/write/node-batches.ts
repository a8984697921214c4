import { zstdDecompressSync } from "node:zlib";
import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { EventDatabase } from "#events/database/database.ts";
import { createNodeSegments, readNodeLogs, UnfitLogsError } from "#events/logs/node-segments.ts";
import type { BatchAnswer, NodeBatch, NodePlace } from "#events/rows/node-batch.ts";
import { type PackedRows, rowsIn } from "#events/rows/packed-rows.ts";
import { decodeRows, UnfitRowsError } from "#events/rows/rows-form.ts";
import { numberColumns } from "#events/rows/schema.ts";
import { spoolRecords } from "#events/spool/spool-records.ts";

export interface NodeBatchesDeps {
  readonly database: EventDatabase;
  /** Directory of the gateway's segments. */
  readonly directory: string;
  readonly metrics: MetricRegistry;
  readonly clock: Pick<Clock, "nowMs">;
  /** Frees disk space for a write of about this size. */
  makeRoom(bytes: number): void;
  refused(batch: NodeBatch, reason: string): void;
  /** Stores rows outside of the database, and returns those that belong into it; by default all. */
  keep?(batch: NodeBatch, tables: readonly PackedRows[]): readonly PackedRows[];
}

/** Takes batches of nodes into control's events, each once. */
export interface NodeBatches {
  take(batch: NodeBatch): Omit<BatchAnswer, "request">;
  close(): void;
}

/** Size limit of one record; a sink sends at most four million characters of a table at once. */
const RECORD_BYTES_MAX = 64 * 1024 * 1024;
/** Of one batch, decompressed: a megabyte of rows as a node compresses them has less, and a stolen node may send anything. */
const BATCH_BYTES_MAX = 256 * 1024 * 1024;

/** Clocks of machines differ; a row from later would lead all lists and outlive the retention. */
const AHEAD_MS = 300_000;

export function createNodeBatches({
  database,
  directory,
  metrics,
  clock,
  makeRoom,
  refused,
  keep = (_batch, tables) => tables,
}: NodeBatchesDeps): NodeBatches {
  const takenRows = metrics.counter("selvedge_events_node_rows_total", "Event rows and gateway logs taken from nodes");
  const unfitRows = metrics.counter("selvedge_events_node_refused_total", "Batches and gateway logs of nodes that cannot be stored");
  let segments: ReturnType<typeof createNodeSegments> | null = null;

  const takeRows = (batch: NodeBatch): NodePlace => {
    let tables: readonly PackedRows[] = [];
    const place = database.take(batch, () => keep(batch, (tables = rowsOf(batch.bytes, clock.nowMs()))));
    takenRows.value += rowsIn(tables);
    return place;
  };
  const takeLogs = (batch: NodeBatch): NodePlace => {
    let isAppended = false;
    try {
      return database.take(batch, (tables) => {
        const logs = readNodeLogs(batch.bytes);
        segments ??= createNodeSegments(directory, database.newestSegment);
        segments.append(tables, logs);
        isAppended = true;
        takenRows.value += logs.records.length;
        unfitRows.value += logs.unfit;
        return [];
      });
    } catch (error) {
      if (isAppended) segments?.undo();
      throw error;
    }
  };
  return {
    take: (batch) => {
      try {
        makeRoom(batch.bytes.length);
        return { stored: batch.source === "rows" ? takeRows(batch) : takeLogs(batch) };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!(error instanceof UnfitRowsError || error instanceof UnfitLogsError)) return { error: reason };
        unfitRows.value++;
        refused(batch, reason);
        return { stored: database.take(batch, () => []), refused: reason };
      }
    },
    close: () => segments?.close(),
  };
}

function rowsOf(bytes: Uint8Array, nowMs: number): readonly PackedRows[] {
  let records: readonly Uint8Array[];
  let left = BATCH_BYTES_MAX;
  try {
    records = spoolRecords(bytes).map((record) => {
      const rows = zstdDecompressSync(record, { maxOutputLength: Math.min(left, RECORD_BYTES_MAX) });
      left -= rows.length;
      return rows;
    });
  } catch (error) {
    throw new UnfitRowsError(error instanceof Error ? error.message : String(error));
  }
  return records.map((record) => {
    const rows = decodeRows(record);
    boundTimes(rows, nowMs);
    return rows;
  });
}

/** Rows from the future, or from before 1970, get the time of control or the beginning of 1970. */
function boundTimes({ table, numbers }: PackedRows, nowMs: number): void {
  const times = numbers[numberColumns(table).findIndex(({ name }) => name === "at_ms")]!;
  for (const [i, at] of times.entries()) if (at > nowMs + AHEAD_MS || at < 0) times[i] = at < 0 ? 0 : nowMs;
}
