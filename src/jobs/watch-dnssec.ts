import { systemCall } from "#control/call.ts";
import type { DnssecWatch } from "#control/dns/dnssec/dnssec-watch.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 30_000;
/** Of each kind in one log line: an unavailable resolver makes every zone fail for the same reason. */
const REPORTED_MAX = 10;

/** Checks the DS records in the parents of signed zones, and advances the status and the rollovers of their keys. */
export const watchDnssec = (watch: DnssecWatch): Job => ({
  name: "watch-dnssec",
  everyMs: EVERY_MS,
  run: async () => {
    const { checked, changed, failed } = await watch.lookDue(systemCall("watch-dnssec"));
    if (changed.length === 0 && failed.length === 0) return null;
    return { checked, changed: changed.slice(0, REPORTED_MAX), failures: failed.length, failed: failed.slice(0, REPORTED_MAX) };
  },
});
