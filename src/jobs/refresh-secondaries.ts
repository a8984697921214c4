import type { Secondaries } from "#control/secondary/secondaries.ts";
import type { Job } from "./job.ts";

/** Longest delay of a check. */
const EVERY_MS = 1_000;

/** Starts the due checks of secondary zones, without waiting for them. */
export const refreshSecondaries = (secondaries: Secondaries): Job => ({
  name: "refresh-secondaries",
  everyMs: EVERY_MS,
  run: async () => {
    await secondaries.startDue();
    // Each check logs its own result.
    return null;
  },
});
