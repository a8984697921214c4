import { systemCall } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 3_600_000;
/** A third of a certificate's life, so that weeks of failures do no harm. */
export const RENEW_WITHIN_MS = 30 * 86_400_000;
const AT_ONCE = 100;

/** Renews the local authority's certificates before they expire. */
export const renewCertificates = ({ certificates, serviceCertificate }: Pick<Control, "certificates" | "serviceCertificate">): Job => ({
  name: "renew-certificates",
  everyMs: EVERY_MS,
  run: async () => {
    const call = systemCall("renew-certificates");
    const service = await serviceCertificate.ensure(call, RENEW_WITHIN_MS);
    const renewed = (await certificates.renewDue(call, RENEW_WITHIN_MS, AT_ONCE)) + Number(service);
    return renewed === 0 ? null : { renewed };
  },
});
