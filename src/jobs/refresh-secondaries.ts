import type { Secondaries } from "#control/secondary/secondaries.ts";
import type { Job } from "./job.ts";

/** How late a check may be. */
const EVERY_MS = 1_000;

/** Starts the checks of secondary zones that are due; they go on by themselves. */
export const refreshSecondaries = (secondaries: Secondaries): Job => ({
  name: "refresh-secondaries",
  everyMs: EVERY_MS,
  run: async () => {
    await secondaries.startDue();
    // What comes of each is told apart from this.
    return null;
  },
});
