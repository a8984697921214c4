import type { Job } from "./job.ts";

const EVERY_MS = 3_600_000;

/** Things that are kept for some time. */
interface Kept {
  forget(): Promise<void>;
}

/** Deletes what was kept long enough: recorded calls, counts of deprecated calls, invitations. */
export const forgetEnded = (name: string, ...kinds: readonly Kept[]): Job => ({
  name: `forget-${name}`,
  everyMs: EVERY_MS,
  run: async () => {
    for (const kind of kinds) await kind.forget();
    return null;
  },
});
