import { systemCall } from "#control/call.ts";
import type { HostnameChecks } from "#control/hostnames/hostname-checks.ts";
import type { Job } from "./job.ts";

/** Longest delay of a check, and of noticing a change in a zone of this server. */
const EVERY_MS = 2_000;
const AT_ONCE = 64;

/** Checks custom hostnames that are due: pending ones, active ones that may have moved, and those to be deleted. */
export const checkCustomHostnames = (checks: HostnameChecks): Job => ({
  name: "check-custom-hostnames",
  everyMs: EVERY_MS,
  run: async () => {
    const checked = await checks.checkDue(systemCall("check-custom-hostnames"), AT_ONCE);
    return checked === 0 ? null : { checked };
  },
});
