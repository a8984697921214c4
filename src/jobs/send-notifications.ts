import type { Deliveries } from "#control/notifications/delivery/deliveries.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 5_000;
const TOLD_MAX = 10;

/** Sends what notifications are due, and what failed before. */
export const sendNotifications = (deliveries: Deliveries): Job => ({
  name: "send-notifications",
  everyMs: EVERY_MS,
  run: async () => {
    const { sent, failures } = await deliveries.sendDue();
    if (sent + failures.length === 0) return null;
    // Whom accounts tell is nobody's business who reads the log: the history has the rest under the delivery's identifier.
    const failed = failures.slice(0, TOLD_MAX).map(({ id, mechanism_type, logged }) => `${mechanism_type} ${id}: ${logged}`);
    return { sent, failures: failures.length, failed };
  },
});
