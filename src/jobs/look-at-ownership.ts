import { systemCall } from "#control/call.ts";
import type { Ownership } from "#control/ownership/ownership.ts";
import type { ZoneSettling } from "#control/ownership/settling.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 30_000;
/** Of each kind in one log line: an unavailable resolver makes every zone fail for the same reason. */
const TOLD_MAX = 10;

/** Checks the proofs of zones' ownership, and updates the zones: pending, active, moved, gone. */
export const lookAtOwnership = (ownership: Pick<Ownership, "lookDue">, settling: Pick<ZoneSettling, "conflicts" | "notices">): Job => ({
  name: "look-at-ownership",
  everyMs: EVERY_MS,
  run: async () => {
    // The operator settles conflicts in another process.
    if (settling.notices().length > 0) await settling.conflicts();
    const { looked, changed, failed } = await ownership.lookDue(systemCall("look-at-ownership"));
    if (changed.length === 0 && failed.length === 0) return null;
    return { looked, changed: changed.slice(0, TOLD_MAX), failures: failed.length, failed: failed.slice(0, TOLD_MAX) };
  },
});
