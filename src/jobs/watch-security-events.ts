import { systemCall } from "#control/call.ts";
import type { NotificationWatch } from "#control/notifications/spikes/watch.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 60_000;
/** In one log line: an unavailable database makes every policy fail for the same reason. */
const REPORTED_MAX = 10;

/** Notifies of spikes in security events, and in errors of origins and of the edge. */
export const watchSecurityEvents = (watch: NotificationWatch): Job => ({
  name: "watch-security-events",
  everyMs: EVERY_MS,
  run: async () => {
    const { told, failed } = await watch.look(systemCall("watch-security-events"));
    if (told === 0 && failed.length === 0) return null;
    return { told, failures: failed.length, failed: failed.slice(0, REPORTED_MAX) };
  },
});
