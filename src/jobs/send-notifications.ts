import type { Deliveries } from "#control/notifications/delivery/deliveries.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 5_000;
const REPORTED_MAX = 10;

/** Sends notifications that are due, and retries those that failed. */
export const sendNotifications = (deliveries: Deliveries): Job => ({
  name: "send-notifications",
  everyMs: EVERY_MS,
  run: async () => {
    const { sent, failures } = await deliveries.sendDue();
    if (sent + failures.length === 0) return null;
    // The log leaves out recipients, which are private to the accounts; the history has them under the delivery's ID.
    const failed = failures.slice(0, REPORTED_MAX).map(({ id, mechanism_type, logged }) => `${mechanism_type} ${id}: ${logged}`);
    return { sent, failures: failures.length, failed };
  },
});
