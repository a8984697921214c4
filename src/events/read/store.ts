import { statSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { createEventConnection } from "#events/database/connection.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { decodeRow, EVENT_SCHEMA } from "#events/rows/schema.ts";
import { FIRST_NODE_SEGMENT, logSegmentsOf, segmentPath } from "#events/logs/segment.ts";
import { createLogBodyStore, type LogBodies } from "#events/logs/bodies.ts";
import { segmentsIn } from "#events/logs/indexer.ts";
import { openSegmentReader } from "#events/logs/reader.ts";
import { type LogScope, SCOPE, scopeValues } from "./log-pieces.ts";
import type { LogQuery } from "./log-keys.ts";
import type { GatewayLogReads, LogPlace } from "./log-reads.ts";

export interface LogChange {
  readonly feedback?: number | null;
  readonly score?: number | null;
  /** JSON text; empty for none. */
  readonly metadata?: string;
}

/**
 * The logs of gateways for control: it reads, and it applies later changes and deletions by callers. What may take long is
 * done by `reads`. A database that does not exist yet is treated as empty.
 */
export interface GatewayLogStore extends Omit<GatewayLogReads, "places"> {
  get(scope: LogScope, id: string): GatewayLogRow | undefined;
  /** Null if the row has none, or no longer. */
  bodies(row: GatewayLogRow): LogBodies | null;
  /** False if the row does not exist. */
  change(scope: LogScope, id: string, change: LogChange): boolean;
  /**
   * Deletes rows and bodies, a few at a time, so that other work does not wait. Returns the number of rows. `before` is called with the ids of
   * rows that are about to go.
   */
  delete(
    scope: LogScope,
    query: Pick<LogQuery, "filters" | "orderBy" | "direction" | "limit">,
    before?: (ids: readonly string[]) => Promise<void>,
  ): Promise<number>;
  /** Deletes rows and bodies by their ids. */
  deleteByIds(scope: LogScope, ids: readonly string[]): Promise<void>;
  /** End of the written logs that have not been read into the list yet; undefined if all have been read. */
  unread(): LogMark | undefined;
  /** Whether the list contains all logs written up to the mark. */
  hasRead(mark: LogMark): boolean;
  close(): void;
}

/** A place in the segments. */
export interface LogMark {
  readonly segment: number;
  readonly at: number;
}

const COLUMNS = EVENT_SCHEMA.gateway_logs.columns.map((column) => column.name).join(", ");
const FOUND_AT_ONCE = 10_000;
const DELETED_AT_ONCE = 500;

export function openGatewayLogStore(eventsPath: string, reads: GatewayLogReads): GatewayLogStore {
  const directory = logSegmentsOf(eventsPath);
  const bodies = createLogBodyStore(directory);
  // The writer's transactions are short, and so are those here.
  const connection = createEventConnection(eventsPath, () => {
    const opened = new DatabaseSync(eventsPath);
    opened.exec("PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL");
    return opened;
  });
  const { run } = connection;

  return {
    list: reads.list,
    count: reads.count,
    bounds: reads.bounds,
    averages: reads.averages,
    get: (scope, id) =>
      run(undefined, (db) => {
        const row = db.prepare(`SELECT ${COLUMNS} FROM gateway_logs WHERE id = ? AND ${SCOPE}`).get(id, ...scopeValues(scope));
        return row === undefined ? undefined : decodeRow("gateway_logs", row);
      }),
    bodies: ({ segment = null, segment_at = null }) =>
      segment === null || segment_at === null ? null : bodies.read({ segment, at: segment_at }),
    change: (scope, id, change) =>
      run(false, (db) => {
        const entries = Object.entries(change) as [string, SQLInputValue][];
        const set = entries.map(([column]) => `${column} = ?`).join(", ") || "id = id";
        const values = entries.map(([, value]) => value);
        const statement = db.prepare(`UPDATE gateway_logs SET ${set} WHERE id = ? AND ${SCOPE}`);
        return Number(statement.run(...values, id, ...scopeValues(scope)).changes) > 0;
      }),
    delete: async (scope, query, before) => {
      let deleted = 0;
      while (deleted < query.limit) {
        const limit = Math.min(FOUND_AT_ONCE, query.limit - deleted);
        const places = await reads.places(scope, { ...query, limit, search: "", offset: 0 });
        if (places.length > 0) await before?.(places.map(({ id }) => id));
        for (let at = 0; at < places.length; at += DELETED_AT_ONCE) {
          deleted += run(0, (db) => deleteSome(db, places.slice(at, at + DELETED_AT_ONCE), bodies.erase));
          await turn();
        }
        if (places.length < limit) return deleted;
      }
      return deleted;
    },
    deleteByIds: async (scope, ids) => {
      for (let at = 0; at < ids.length; at += DELETED_AT_ONCE) {
        const some = ids.slice(at, at + DELETED_AT_ONCE);
        run(0, (db) => {
          const sql = `SELECT row_id, id, segment, segment_at AS at FROM gateway_logs WHERE id IN (${some.map(() => "?").join(", ")}) AND ${SCOPE}`;
          return deleteSome(db, db.prepare(sql).all(...some, ...scopeValues(scope)) as unknown as readonly LogPlace[], bodies.erase);
        });
        await turn();
      }
    },
    unread: () => {
      const segment = segmentsIn(directory).at(-1);
      if (segment === undefined) return undefined;
      const readTo = run(0, (db) =>
        Number(db.prepare("SELECT read_to FROM gateway_segments WHERE segment = ?").get(segment)?.["read_to"] ?? 0),
      );
      return endOfRecords(directory, segment, readTo);
    },
    hasRead: ({ segment, at }) =>
      run(true, (db) => {
        const last = db
          .prepare(`SELECT segment, read_to FROM gateway_segments WHERE segment < ${FIRST_NODE_SEGMENT} ORDER BY segment DESC LIMIT 1`)
          .get();
        return last !== undefined && (Number(last["segment"]) > segment || (last["segment"] === segment && Number(last["read_to"]) >= at));
      }),
    close: connection.close,
  };
}

/** Undefined if no record follows. */
function endOfRecords(directory: string, segment: number, readTo: number): LogMark | undefined {
  const size = statSync(segmentPath(directory, segment), { throwIfNoEntry: false })?.size ?? 0;
  const reader = size > readTo ? openSegmentReader(directory, segment) : undefined;
  if (reader === undefined) return undefined;
  const { records, next } = reader.read(readTo);
  reader.close();
  return records.length === 0 ? undefined : { segment, at: next };
}

/** Deleted rows are erased from the disk before they are removed from the list. */
function deleteSome(
  db: DatabaseSync,
  places: readonly LogPlace[],
  erase: (places: readonly { segment: number; at: number }[]) => void,
): number {
  erase(places.flatMap(({ segment, at }) => (segment === null || at === null ? [] : [{ segment, at }])));
  const ids = places.map(({ row_id }) => row_id);
  return Number(db.prepare(`DELETE FROM gateway_logs WHERE row_id IN (${ids.map(() => "?").join(", ")})`).run(...ids).changes);
}
