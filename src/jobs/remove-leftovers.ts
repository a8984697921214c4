import { systemCall } from "#control/call.ts";
import type { Removals } from "#control/zones/removals.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 60_000;

/** Deletes leftovers of deletions: invisible objects whose deletion ended with its process. */
export const removeLeftovers = (removals: Pick<Removals, "run">): Job => ({
  name: "remove-leftovers",
  everyMs: EVERY_MS,
  run: async () => {
    const removed = await removals.run(systemCall("remove-leftovers"));
    return removed === 0 ? null : { removed };
  },
});
