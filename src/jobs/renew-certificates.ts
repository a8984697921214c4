import { systemCall } from "#control/call.ts";
import type { CertificateRenewal } from "#control/zones/renew-certificates.ts";
import type { Job } from "./job.ts";

const EVERY_MS = 3_600_000;
/** A third of a certificate's life is left, so that weeks of failures do no harm. */
const WITHIN_MS = 30 * 86_400_000;
const AT_ONCE = 100;

/** Keeps the local authority's certificates from running out. */
export const renewCertificates = (renewal: CertificateRenewal): Job => ({
  name: "renew-certificates",
  everyMs: EVERY_MS,
  run: async () => {
    const renewed = await renewal.renewDue(systemCall("renew-certificates"), WITHIN_MS, AT_ONCE);
    return renewed === 0 ? null : { renewed };
  },
});
