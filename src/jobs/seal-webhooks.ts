import type { Webhooks } from "#control/notifications/delivery/webhooks.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 3_600_000;

/** Seals URLs of webhooks that an older release has stored. */
export const sealWebhooks = (webhooks: Pick<Webhooks, "sealOlder">): Job => ({
  name: "seal-webhooks",
  everyMs: EVERY_MS,
  run: async () => {
    const sealed = await webhooks.sealOlder();
    return sealed === 0 ? null : { sealed };
  },
});
