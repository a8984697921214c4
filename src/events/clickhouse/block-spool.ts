import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { segmentsIn } from "#events/logs/indexer.ts";
import { segmentPath } from "#events/logs/segment.ts";
import { type BatchRange, type NodeBatch, type NodePlace, START } from "#events/rows/node-batch.ts";
import type { PackedRows } from "#events/rows/packed-rows.ts";
import { decodeRows, encodeRows } from "#events/rows/rows-form.ts";
import { epochOf } from "#events/spool/epoch.ts";
import { createSpool } from "#events/spool/spool.ts";
import { SPOOL_HEAD_BYTES, spoolRecords } from "#events/spool/spool-records.ts";

/** Rows that are sent together, and always as the same ones: the server stores a block with the same token once. */
export interface RowBlock {
  readonly token: string;
  /** The node that wrote them; empty for this process. */
  readonly node: string;
  readonly segment: number;
  tables(): readonly PackedRows[];
}

/** Rows on this disk that ClickHouse has not stored. */
export interface BlockSpool {
  /** All rows are on disk when it returns, or none. Throws a SpoolFullError if they do not fit. */
  append(tables: readonly PackedRows[]): void;
  /** The same for a batch of a node, which is a block by itself. */
  appendBatch(batch: Omit<NodeBatch, "bytes">, tables: readonly PackedRows[]): void;
  /** The batch of the newest block, if a node sent it: its place may be missing in the database after a crash. */
  newestBatch(): Omit<NodeBatch, "bytes"> | null;
  /** The oldest block that gets no more rows; null if none is. */
  next(): RowBlock | null;
  release(block: RowBlock): void;
  /** Keeps the block in another file, of which the newest few stay. */
  setAside(block: RowBlock): void;
  bytes(): number;
  close(): void;
}

export interface BlockSpoolDeps {
  readonly directory: string;
  readonly bytesMax: number;
  monotonicMs(): number;
  damaged(place: NodePlace): void;
}

/** Time in which rows gather to a block: many small ones cost ClickHouse more than their rows. */
const GATHER_MS = 1_000;
/** Some 50,000 rows. */
const BLOCK_BYTES = 1024 * 1024;
const RECORD_BYTES_MAX = 64 * 1024 * 1024;
const ASIDE_MAX = 8;
const TOKEN_CHARS = 40;

/** One file is one block. The first record of a node's block is its batch as JSON; all others are compressed rows. */
export function createBlockSpool({ directory, bytesMax, monotonicMs, damaged }: BlockSpoolDeps): BlockSpool {
  const seen = new Set<string>();
  const damagedOnce = (place: NodePlace): void => {
    const key = `${place.segment} ${place.at}`;
    if (!seen.has(key)) damaged(place);
    seen.add(key);
  };
  const spool = createSpool({ directory, bytesMax, damaged: damagedOnce, segmentBytesMax: Infinity, taker: "ClickHouse" });
  const epoch = epochOf(directory);
  let open = { bytes: 0, sinceMs: 0 };

  const append = (records: readonly Uint8Array[]): void => {
    if (spool.open() !== null && open.bytes >= BLOCK_BYTES) spool.close();
    if (spool.open() === null) open = { bytes: 0, sinceMs: monotonicMs() };
    spool.append(records);
    open.bytes += records.reduce((sum, { length }) => sum + length + SPOOL_HEAD_BYTES, 0);
  };
  /** The file that rows are still added to is all there is, and too young: nothing to read. */
  const isGathering = (): boolean => spool.open() !== null && spool.bytes() === open.bytes && monotonicMs() - open.sinceMs < GATHER_MS;

  const rowsOf = (tables: readonly PackedRows[]): readonly Uint8Array[] => tables.map((table) => zstdCompressSync(encodeRows(table)));
  return {
    append: (tables) => append(rowsOf(tables)),
    appendBatch: ({ node, source, epoch: from, ...range }, tables) => {
      spool.close();
      append([Buffer.from(JSON.stringify({ node, source, epoch: from, from: range.from, to: range.to })), ...rowsOf(tables)]);
      spool.close();
    },
    newestBatch: () => {
      const newest = Math.max(0, ...segmentsIn(directory));
      return newest === 0 ? null : batchOf(recordsIn(readFileSync(segmentPath(directory, newest))));
    },
    next: () => {
      if (isGathering()) return null;
      const found = spool.next(START, Number.MAX_SAFE_INTEGER);
      if (found === null) return null;
      const { segment } = found.to;
      if (segment === spool.open()) {
        if (monotonicMs() - open.sinceMs < GATHER_MS) return null;
        spool.close();
      }
      const records = recordsIn(found.bytes);
      const batch = batchOf(records);
      const rows = batch === null ? records : records.slice(1);
      return {
        token: tokenOf(batch === null ? `${epoch} ${segment} ${sum(found.bytes)}` : JSON.stringify(batch)),
        node: batch?.node ?? "",
        segment,
        tables: () => rows.map((record) => decodeRows(zstdDecompressSync(record, { maxOutputLength: RECORD_BYTES_MAX }))),
      };
    },
    release: ({ segment }) => spool.release(behind(segment)),
    setAside: ({ segment }) => {
      renameSync(segmentPath(directory, segment), `${segmentPath(directory, segment)}.refused`);
      spool.release(behind(segment));
      const aside = readdirSync(directory).filter((name) => name.endsWith(".refused"));
      for (const name of aside.sort().slice(0, -ASIDE_MAX)) rmSync(join(directory, name));
    },
    bytes: spool.bytes,
    close: spool.close,
  };
}

const behind = (segment: number): NodePlace => ({ segment: segment + 1, at: 0 });

/** The whole records: the last one may have been cut off. */
function recordsIn(bytes: Uint8Array): readonly Uint8Array[] {
  try {
    return spoolRecords(bytes);
  } catch {
    return [];
  }
}

const BRACE = 0x7b;

function batchOf([first]: readonly Uint8Array[]): (BatchRange & { readonly node: string }) | null {
  return first?.[0] === BRACE ? (JSON.parse(Buffer.from(first).toString()) as BatchRange & { readonly node: string }) : null;
}

const sum = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
const tokenOf = (text: string): string => sum(text).slice(0, TOKEN_CHARS);
