import { systemCall } from "#control/call.ts";
import type { Ownership } from "#control/ownership/ownership.ts";
import type { ZoneSettling } from "#control/ownership/settling.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 30_000;
/** Of each kind in one log line: an unavailable resolver makes every zone fail for the same reason. */
const REPORTED_MAX = 10;

/** Checks the proofs of zones' ownership, and updates the zones: pending, active, moved, gone. */
export const checkOwnership = (ownership: Pick<Ownership, "lookDue">, settling: Pick<ZoneSettling, "conflicts" | "notices">): Job => ({
  name: "check-ownership",
  everyMs: EVERY_MS,
  run: async () => {
    // The operator settles conflicts in another process.
    if (settling.notices().length > 0) await settling.conflicts();
    const { checked, changed, failed } = await ownership.lookDue(systemCall("check-ownership"));
    if (changed.length === 0 && failed.length === 0) return null;
    return { checked, changed: changed.slice(0, REPORTED_MAX), failures: failed.length, failed: failed.slice(0, REPORTED_MAX) };
  },
});
