import type { EventDatabase } from "#events/database/database.ts";
import type { DiskReserve } from "./disk-reserve.ts";
import type { LogIndexer } from "#events/logs/indexer.ts";

/** Bytes of the file system in which the database is. */
export interface Volume {
  readonly total: number;
  /** That we may use. */
  readonly free: number;
  readonly used: number;
}

export interface DiskRoomDeps {
  readonly database: Pick<EventDatabase, "usedBytes" | "freeBytes" | "checkpoint" | "deleteOldest" | "shrink">;
  readonly segments: Pick<LogIndexer, "bytes" | "tidy">;
  readonly reserve: DiskReserve;
  volume(): Volume;
  monotonicMs(): number;
  /** Rows or segments have to go. */
  short(reason: ShortReason): void;
}

export type ShortReason = "no room to write" | "little room is left";

/** What a disk with less room than the limits allow leaves for events (ADR 0055). */
export interface DiskRoom {
  /** To be called before rows of some `bytes` are written: makes room where the disk has none for them. */
  ready(bytes: number): void;
  /** After a write that found no room: makes some. Gives whether it can be tried again. */
  make(bytes: number): boolean;
  /** Looks whether little is left, before nothing is: from what is ours, if that is what fills the disk. To be called now and then. */
  watch(): void;
  /** One short step of what `watch` has found; true while there is more. */
  step(): boolean;
}

/** A page that is new is written twice, into the log and into the file, and indexes and counts come on top. */
const NEEDED_TIMES = 3;
const MARGIN_BYTES = 1024 * 1024;
/** Of rows or of segments: what goes at a time. */
const GIVEN_SHARE = 1 / 16;
const GIVEN_BYTES_MAX = 16 * 1024 * 1024;
/** What is little. */
const LOW_SHARE = 1 / 50;
const LOW_BYTES_MAX = 256 * 1024 * 1024;
const ROWS_AT_ONCE = 5000;
const PAGES_AT_ONCE = 2000;
const STEPS_MAX = 200;
/** What did not help is not tried again at once. */
const AGAIN_MS = 1_000;

export function createDiskRoom({ database, segments, reserve, volume, monotonicMs, short }: DiskRoomDeps): DiskRoom {
  /** Bytes that the database is to be brought down to. */
  let target = Infinity;
  let failedMs = -Infinity;

  const dropSegments = (): void => segments.tidy(segments.bytes() * (1 - GIVEN_SHARE));
  const areSegmentsMore = (): boolean => segments.bytes() > database.usedBytes();

  /** Pages within the file are room that nobody else can take; gives whether there are enough. */
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
      // Of what goes into the file first, deletions need the less of the log.
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
