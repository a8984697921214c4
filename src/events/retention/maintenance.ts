import type { EventDatabase } from "#events/database/database.ts";
import type { DiskRoom } from "./disk-quota.ts";
import { isFull } from "#events/database/full-disk.ts";
import type { LogIndexer } from "#events/logs/indexer.ts";
import { retentionStep, type RetentionLimits } from "./retention.ts";

export interface TidyingDeps {
  readonly database: EventDatabase;
  readonly segments: Pick<LogIndexer, "tidy">;
  readonly limits: RetentionLimits;
  readonly room: DiskRoom;
  /** By which things are old (steady-time.ts). */
  nowMs(): number;
  /** What is in use after a step. */
  measured(bytes: number): void;
  failed(duty: string, error: unknown): void;
}

/** Few enough that their deletion keeps no batch waiting: some 15 ms. */
const NAMES_AT_ONCE = 250;
const USAGE_KEPT_MS = 400 * 86_400_000;

/** Keeps events within their limits and the disk's: one short step a call, which gives true while there is more to do. */
export function createTidying({ database, segments, limits, room, nowMs, measured, failed }: TidyingDeps): () => boolean {
  // Each by itself: what frees room must not wait for what needs some.
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
