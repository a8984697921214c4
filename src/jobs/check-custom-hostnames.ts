import { systemCall } from "#control/call.ts";
import type { HostnameChecks } from "#control/hostnames/hostname-checks.ts";
import type { Job } from "./job.ts";

/** How late a look may be, and how soon a change in a zone that lives here is noticed. */
const EVERY_MS = 2_000;
const AT_ONCE = 64;

/** Looks at custom hostnames in their turn: pending ones, active ones that may have moved, and those to be deleted. */
export const checkCustomHostnames = (checks: HostnameChecks): Job => ({
  name: "check-custom-hostnames",
  everyMs: EVERY_MS,
  run: async () => {
    const checked = await checks.checkDue(systemCall("check-custom-hostnames"), AT_ONCE);
    return checked === 0 ? null : { checked };
  },
});
