import { setTimeout as pause } from "node:timers/promises";
import { type PackedRows, rowsIn } from "#events/rows/packed-rows.ts";
import type { RowBlock, BlockSpool } from "./block-spool.ts";
import { type ClickHouse, ClickHouseFailure } from "./connection.ts";
import { rowLines } from "./row-lines.ts";
import type { RowIds } from "./row-ids.ts";
import { insertedColumns, isInClickHouse, tableName } from "./tables.ts";

export interface BlockSenderDeps {
  readonly spool: BlockSpool;
  readonly server: ClickHouse;
  readonly ids: RowIds;
  /** Makes the tables, or checks them; called before the first block, and again when they are gone. */
  prepare(): Promise<void>;
  stored(rows: number): void;
  /** The server takes blocks again. */
  up(): void;
  /** It does not. Called at each attempt. */
  down(reason: string): void;
  /** It will never take this block, which is set aside. */
  refused(block: RowBlock, reason: string): void;
}

export interface BlockSender {
  stop(): void;
}

const LOOK_MS = 100;
const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 15_000;
/** A connection that breaks within a block looks like a fault of the block, so it is tried again first. */
const ATTEMPTS = 3;
const UNKNOWN_TABLE = 60;
/**
 * Errors of what a block contains: it does not parse or does not fit the columns (ClickHouse, src/Common/ErrorCodes.cpp). All others may pass,
 * such as a wrong password, tables that others have changed, or too many parts.
 */
const OF_THE_BLOCK: ReadonlySet<number> = new Set([6, 26, 27, 33, 53, 69, 70, 72, 117, 130, 131, 349]);

/** Sends blocks one after the other, each until it is stored. */
export function createBlockSender(deps: BlockSenderDeps): BlockSender {
  const { spool, server, prepare } = deps;
  const stopping = new AbortController();
  const sleep = (ms: number): Promise<unknown> => pause(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
  let isPrepared = false;
  let failures = 0;
  let refusals = 0;

  const send = async (block: RowBlock): Promise<number> => {
    const tables = block.tables().filter(({ rows }) => rows > 0);
    for (const [table, parts] of Map.groupBy(tables, (packed) => packed.table)) {
      // Rows of a later release may be of a table that this one does not know.
      if (!isInClickHouse(table)) continue;
      const into = `${tableName(table)} (${insertedColumns(table).join(", ")})`;
      await server.insert(into, linesOf(parts, block.node, deps.ids), `${block.token}-${table}`);
    }
    return rowsIn(tables);
  };

  const step = async (): Promise<void> => {
    if (!isPrepared) await prepare();
    isPrepared = true;
    if (stopping.signal.aborted) return;
    const block = spool.next();
    if (block === null) {
      deps.up();
      return void (await sleep(LOOK_MS));
    }
    try {
      const rows = await send(block);
      // The next process has the files now, and sends the block again.
      if (stopping.signal.aborted) return;
      spool.release(block);
      deps.stored(rows);
      refusals = failures = 0;
      deps.up();
    } catch (error) {
      if (stopping.signal.aborted) throw error;
      const code = error instanceof ClickHouseFailure ? error.code : 0;
      if (code === UNKNOWN_TABLE) isPrepared = false;
      // A block that cannot be read is a fault of the block, too.
      if (code === undefined || (code !== 0 && !OF_THE_BLOCK.has(code)) || ++refusals < ATTEMPTS) throw error;
      refusals = 0;
      spool.setAside(block);
      deps.refused(block, reasonOf(error));
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted)
      await step().catch(async (error: unknown) => {
        if (stopping.signal.aborted) return;
        deps.down(reasonOf(error));
        await sleep(Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** failures++));
      });
  };
  void run();
  return { stop: () => stopping.abort() };
}

function* linesOf(parts: readonly PackedRows[], node: string, ids: RowIds): Generator<string> {
  for (const packed of parts) yield* rowLines(packed, { node, nextRow: ids.next });
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
