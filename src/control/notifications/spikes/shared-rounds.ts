import { commit } from "#control/commit.ts";
import { countNodes, evaluatedUntil, putEvaluatedUntil } from "#store/events/event-counts.ts";
import type { Store } from "#store/database/store.ts";
import type { CountPublisher } from "./publish-counts.ts";
import { isLongAgo, type WindowClaims } from "./window-claims.ts";

export interface SharedRoundsDeps {
  readonly store: Store;
  readonly publisher: CountPublisher;
}

/** How long nodes wait for another node's counts; after that it is offline, or its clock is wrong. */
const AWAIT_MS = 180_000;

/**
 * Each window is evaluated by one node: the first that finds the counts of all nodes, after publishing its own. An
 * offline node delays the others by three minutes, once.
 */
export function createSharedRounds({ store, publisher }: SharedRoundsDeps): WindowClaims {
  return {
    begin: async (call, policies, ownEndMs) => {
      await publisher.publish(call, policies, ownEndMs);
      return commit({ store }, call, async ({ db }) => {
        const counted = (await countNodes(db)).map(({ counted_ms }) => counted_ms).filter((ms) => ms >= ownEndMs - AWAIT_MS);
        const endMs = Math.min(ownEndMs, ...counted);
        const lookedMs = (await evaluatedUntil(db)) ?? Number.NEGATIVE_INFINITY;
        const isFirst = isLongAgo(lookedMs, endMs);
        if (endMs <= lookedMs && !isFirst) return null;
        await putEvaluatedUntil(db, endMs);
        return { endMs, isFirst };
      });
    },
  };
}
