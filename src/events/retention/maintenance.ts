import type { EventDatabase } from "#events/database/database.ts";
import type { DiskQuota } from "./disk-quota.ts";
import { isFull } from "#events/database/full-disk.ts";
import type { LogIndexer } from "#events/logs/indexer.ts";
import { retentionStep, type RetentionLimits } from "./retention.ts";

export interface MaintenanceDeps {
  readonly database: EventDatabase;
  readonly segments: Pick<LogIndexer, "tidy">;
  readonly limits: RetentionLimits;
  readonly room: DiskQuota;
  /** The time that decides what is old (guarded-clock.ts). */
  nowMs(): number;
  /** Bytes in use after a step. */
  measured(bytes: number): void;
  failed(duty: string, error: unknown): void;
}

/** Few enough that their deletion delays a batch by only about 15 ms. */
const NAMES_AT_ONCE = 250;
const USAGE_KEPT_MS = 400 * 86_400_000;

/** Keeps events within their limits and the disk's: one short step per call, which returns true while more remains. */
export function createMaintenance({ database, segments, limits, room, nowMs, measured, failed }: MaintenanceDeps): () => boolean {
  // Each duty by itself: work that frees room must not wait for work that needs room.
  const attempt = (duty: string, work: () => boolean | void): boolean => {
    try {
      return work() === true;
    } catch (error) {
      if (isFull(error)) room.make(0);
      failed(duty, error);
      return false;
    }
  };
  return () => {
    const hasMore = attempt("expired rows", () => retentionStep(database, limits, nowMs())) || attempt("surplus rows", room.step);
    const hasNames = !hasMore && attempt("names", () => database.deleteUnusedFacets(NAMES_AT_ONCE) > 0);
    attempt("size", () => measured(database.usedBytes()));
    if (hasMore || hasNames) return true;
    attempt("segments", () => segments.tidy(limits.segmentBytes ?? Infinity));
    attempt("usage", () => database.logs.deleteUsageBefore(nowMs() - USAGE_KEPT_MS));
    attempt("room", room.watch);
    return false;
  };
}
