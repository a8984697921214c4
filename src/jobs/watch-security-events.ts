import { systemCall } from "#control/call.ts";
import type { NotificationWatch } from "#control/notifications/watch.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 60_000;

/** Tells of spikes in security events. */
export const watchSecurityEvents = (watch: NotificationWatch): Job => ({
  name: "watch-security-events",
  everyMs: EVERY_MS,
  run: async () => {
    const { told } = await watch.look(systemCall("watch-security-events"));
    return told === 0 ? null : { told };
  },
});
