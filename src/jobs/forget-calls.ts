import type { RecordedCalls } from "#control/deprecations/recorded-calls.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 3_600_000;

/** Deletes recorded calls that rehearsals no longer read. */
export const forgetCalls = (calls: Pick<RecordedCalls, "forget">): Job => ({
  name: "forget-calls",
  everyMs: EVERY_MS,
  run: async () => {
    await calls.forget();
    return null;
  },
});
