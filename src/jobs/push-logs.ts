import type { LogPusher } from "#control/logpush/pusher.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 5_000;
const REPORTED_MAX = 10;

/** Pushes gateway logs to the destinations of accounts' jobs. */
export const pushLogs = (pusher: LogPusher): Job => ({
  name: "push-logs",
  everyMs: EVERY_MS,
  run: async () => {
    const { pushed, failures } = await pusher.pushDue();
    if (pushed + failures.length === 0) return null;
    return { pushed, failures: failures.length, failed: failures.slice(0, REPORTED_MAX) };
  },
});
