import type { Job } from "./job.ts";

const EVERY_MS = 3_600_000;

/** Calls that are kept for some time. */
interface KeptCalls {
  forget(): Promise<void>;
}

/** Deletes recorded calls that rehearsals no longer read, and counts of deprecated calls of long ago. */
export const forgetCalls = (...kinds: readonly KeptCalls[]): Job => ({
  name: "forget-calls",
  everyMs: EVERY_MS,
  run: async () => {
    for (const calls of kinds) await calls.forget();
    return null;
  },
});
