import { systemCall } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Store } from "#store/database/store.ts";
import { deleteDraft, endedDrafts, usedBlobs } from "#store/images/images.ts";
import type { ImageFiles } from "./image-files.ts";

/** Removes what no image has any more. */
export interface ImageSweep {
  /** Deletes drafts whose URLs have ended. */
  forget(): Promise<void>;
  /** Deletes files of this machine that belong to no image: of deleted accounts, and of uploads that a crash ended. */
  removeFiles(): Promise<void>;
}

const DRAFTS_AT_ONCE = 500;
/** An upload's file is on disk before its row. */
const FILE_AGE_MIN_MS = 3_600_000;
const NAMES_AT_ONCE = 500;
/** Copies of files in a bucket. A file that is needed again is fetched again. */
const COPY_AGE_MAX_MS = 7 * 86_400_000;

export function createImageSweep({ store, clock, files }: { store: Store; clock: Clock; files: ImageFiles }): ImageSweep {
  return {
    forget: async () => {
      const before = isoMicros(clock.nowMicros());
      for (;;) {
        const ended = await endedDrafts(store.read, before, DRAFTS_AT_ONCE);
        if (ended.length === 0) return;
        await commit({ store }, systemCall("image-drafts"), async (unit) => {
          for (const draft of ended) await deleteDraft(unit.db, draft);
        });
      }
    },
    removeFiles: async () => {
      await files.evict(clock.nowMs() - COPY_AGE_MAX_MS);
      for await (const names of files.olderThan(clock.nowMs() - FILE_AGE_MIN_MS))
        for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
          const some = names.slice(at, at + NAMES_AT_ONCE);
          const used = await usedBlobs(store.read, some);
          for (const name of some) if (!used.has(name)) await files.remove(name);
        }
    },
  };
}
