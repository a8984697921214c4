import { systemCall } from "#control/call.ts";
import type { ZoneFiles } from "#control/dns/zone-files.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 60_000;

/** Takes back what large imports had written that ended with the program that did them. */
export const removeAbandonedImports = (files: Pick<ZoneFiles, "removeAbandoned">): Job => ({
  name: "remove-abandoned-imports",
  everyMs: EVERY_MS,
  run: async () => {
    const removed = await files.removeAbandoned(systemCall("remove-abandoned-imports"));
    return removed === 0 ? null : { removed };
  },
});
