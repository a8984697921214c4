import { systemCall } from "#control/call.ts";
import type { ZoneFiles } from "#control/dns/zone-files/zone-files.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 60_000;

/** Reverts large changes whose process ended in the middle, and resumes imports. */
export const removeAbandonedImports = (files: Pick<ZoneFiles, "removeAbandoned" | "jobs">): Job => ({
  name: "remove-abandoned-imports",
  everyMs: EVERY_MS,
  run: async () => {
    const removed = await files.removeAbandoned(systemCall("remove-abandoned-imports"));
    // Imports resume, because their files are kept.
    const started = await files.jobs.resume();
    return removed + started === 0 ? null : { removed, started };
  },
});
