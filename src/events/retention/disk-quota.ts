import type { EventDatabase } from "#events/database/database.ts";
import type { DiskReserve } from "./disk-reserve.ts";
import type { LogIndexer } from "#events/logs/indexer.ts";

/** Bytes of the file system that contains the database. */
export interface Volume {
  readonly total: number;
  /** Bytes available to this process. */
  readonly free: number;
  readonly used: number;
}

export interface DiskQuotaDeps {
  readonly database: Pick<EventDatabase, "usedBytes" | "freeBytes" | "checkpoint" | "deleteOldest" | "shrink">;
  readonly segments: Pick<LogIndexer, "bytes" | "tidy">;
  readonly reserve: DiskReserve;
  volume(): Volume;
  monotonicMs(): number;
  /** Rows or segments must be deleted. */
  short(reason: ShortReason): void;
}

export type ShortReason = "no room to write" | "little room is left";

/** Keeps events within the room on a disk that is smaller than the limits (ADR 0055). */
export interface DiskQuota {
  /** Must be called before rows of about `bytes` are written: frees room if the disk lacks it. */
  ready(bytes: number): void;
  /** After a write that found no room: frees some. Returns whether to try again. */
  make(bytes: number): boolean;
  /**
   * Checks whether the disk is nearly full, and then frees room if events are what fills it. Must be called from time to
   * time.
   */
  watch(): void;
  /** One short step of the work that `watch` has found; true while more remains. */
  step(): boolean;
}

/** A new page is written twice, to the log and to the file, and indexes and counts add to it. */
const NEEDED_TIMES = 3;
const MARGIN_BYTES = 1024 * 1024;
/** Share of rows or segments that is deleted at a time. */
const GIVEN_SHARE = 1 / 16;
const GIVEN_BYTES_MAX = 16 * 1024 * 1024;
/** Below this share the disk counts as nearly full. */
const LOW_SHARE = 1 / 50;
const LOW_BYTES_MAX = 256 * 1024 * 1024;
const ROWS_AT_ONCE = 5000;
const PAGES_AT_ONCE = 2000;
const STEPS_MAX = 200;
/** An attempt that did not help is not repeated sooner. */
const AGAIN_MS = 1_000;

export function createDiskQuota({ database, segments, reserve, volume, monotonicMs, short }: DiskQuotaDeps): DiskQuota {
  /** Target size of the database in bytes. */
  let target = Infinity;
  let failedMs = -Infinity;

  const dropSegments = (): void => segments.tidy(segments.bytes() * (1 - GIVEN_SHARE));
  const areSegmentsMore = (): boolean => segments.bytes() > database.usedBytes();

  /** Free pages within the file are room that no other program can take; returns whether they suffice. */
  const freePages = (bytes: number): boolean => {
    const enough = NEEDED_TIMES * bytes;
    if (database.freeBytes() >= enough + MARGIN_BYTES) return true;
    const goal = enough + Math.max(MARGIN_BYTES, Math.min(GIVEN_BYTES_MAX, database.usedBytes() * GIVEN_SHARE));
    for (let step = 0; step < STEPS_MAX && database.freeBytes() < goal; step++) if (database.deleteOldest(ROWS_AT_ONCE) === 0) break;
    return database.freeBytes() >= bytes;
  };

  const make = (bytes: number): boolean => {
    if (monotonicMs() - failedMs < AGAIN_MS) return false;
    failedMs = monotonicMs();
    short("no room to write");
    reserve.release();
    try {
      // With the log's content in the file first, deletions need less of the log.
      database.checkpoint();
      if (areSegmentsMore()) dropSegments();
      const isMade = freePages(bytes);
      database.checkpoint();
      if (isMade) failedMs = -Infinity;
      return isMade;
    } catch {
      return false;
    } finally {
      reserve.keep();
    }
  };

  return {
    make,
    ready: (bytes) => {
      const needed = NEEDED_TIMES * bytes + MARGIN_BYTES;
      if (volume().free >= needed) return;
      if (database.freeBytes() >= needed) database.checkpoint();
      else make(bytes);
    },
    watch: () => {
      reserve.keep();
      const { total, free, used } = volume();
      const ours = segments.bytes() + database.usedBytes();
      if (free >= Math.min(LOW_BYTES_MAX, total * LOW_SHARE) || ours < used / 2) return;
      short("little room is left");
      if (areSegmentsMore()) dropSegments();
      else target = Math.min(target, database.usedBytes() * (1 - GIVEN_SHARE));
    },
    step: () => {
      const hasMore = database.usedBytes() > target && database.deleteOldest(ROWS_AT_ONCE) > 0;
      if (hasMore) database.shrink(PAGES_AT_ONCE);
      else target = Infinity;
      return hasMore;
    },
  };
}
