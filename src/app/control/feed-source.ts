import type { Access } from "#control/access/access.ts";
import { rebuildSnapshot, streamSnapshot } from "#control/rebuild.ts";
import type { Delta, Op } from "#snapshot/entries.ts";
import type { FeedSource } from "#snapshot/feed.ts";
import type { Change, Store } from "#store/database/store.ts";

/** Change sets read at once when planes catch up. */
const CHANGES_AT_ONCE = 1_000;

/**
 * The store's outbox as a feed. Each change also invalidates control's caches: another node, or the command line, may
 * have written it.
 */
export function createFeedSource(store: Store, access: Pick<Access, "invalidate" | "invalidateScope">): FeedSource {
  return {
    full: () => rebuildSnapshot(store),
    stream: (use) => streamSnapshot(store, use),
    since: async ({ history, rev }) => {
      const sets = await store.changesSince(rev, CHANGES_AT_ONCE, history);
      return (
        sets?.map((set): Delta => {
          for (const change of set.changes) forget(access, change);
          return { from: set.rev - 1, rev: set.rev, ops: set.changes as readonly Op[] };
        }) ?? null
      );
    },
    deltasAtOnce: CHANGES_AT_ONCE,
    onCommit: (listener) => store.onCommit(listener),
  };
}

function forget(access: Pick<Access, "invalidate" | "invalidateScope">, change: Change): void {
  if (change.kind === "token") access.invalidate(change.id);
  else if (change.kind === "zone") access.invalidateScope(change.id);
}
