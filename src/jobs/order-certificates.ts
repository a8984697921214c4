import type { Control } from "#control/control.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 2_000;
const SLOW_EVERY_MS = 60_000;
const AT_ONCE = 50;
const ADVICE_MS_MAX = 120_000;

/** Continues certificate orders that are due. */
export const workOnCertificateOrders = ({ certificateOrdering }: Pick<Control, "certificateOrdering">): Job => ({
  name: "work-on-certificate-orders",
  everyMs: EVERY_MS,
  run: async () => {
    const begun = await certificateOrdering.orders.turn();
    return begun === 0 ? null : { begun };
  },
});

/** Orders certificates for zones that lack one from their authorities, and again before they expire. */
export const orderCertificates = ({ certificateOrdering }: Pick<Control, "certificateOrdering">): Job => ({
  name: "order-certificates",
  everyMs: SLOW_EVERY_MS,
  run: async () => {
    const ordered = (await certificateOrdering.orderForZones(AT_ONCE)) + (await certificateOrdering.renewDue(AT_ONCE));
    // Last, because authorities may be slow.
    await certificateOrdering.takeAdvice(AT_ONCE, AbortSignal.timeout(ADVICE_MS_MAX));
    return ordered === 0 ? null : { ordered };
  },
});
