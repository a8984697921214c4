import type { DeprecationNotices, EndingRow } from "#control/deprecations/notices.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 3_600_000;

/** Tells accounts of what they call and what ends soon; of nothing while the operator's API date stands still, since nothing ends by then. */
export const tellOfDeprecations = (
  notices: DeprecationNotices,
  table: readonly EndingRow[],
  config: { readonly asOf: string | null },
): Job => ({
  name: "tell-of-deprecations",
  everyMs: EVERY_MS,
  run: async () => {
    if (config.asOf !== null) return null;
    const told = await notices.tellEnding(table);
    return told === 0 ? null : { told };
  },
});
