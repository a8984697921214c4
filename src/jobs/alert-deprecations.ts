import type { DeprecationNotices, EndingRow } from "#control/deprecations/notices.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 3_600_000;

/** Notifies accounts of calls that will break soon. Does nothing while the operator fixes the API date, because nothing ends then. */
export const alertDeprecations = (
  notices: DeprecationNotices,
  table: readonly EndingRow[],
  config: { readonly asOf: string | null },
): Job => ({
  name: "alert-deprecations",
  everyMs: EVERY_MS,
  run: async () => {
    if (config.asOf !== null) return null;
    const told = await notices.tellEnding(table);
    return told === 0 ? null : { told };
  },
});
