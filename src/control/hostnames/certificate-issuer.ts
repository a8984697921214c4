import type { CustomHostnameRow } from "#store/hostnames/custom-hostnames.ts";
import type { Unit } from "#store/database/store.ts";

/** Obtains certificates for custom hostnames, and reports results to `HostnameCertificates`. */
export interface CertificateIssuer {
  /** Orders the certificate in the unit that makes it wanted, so that no end of the process comes in between. `request` goes on at once. */
  order(unit: Unit, row: CustomHostnameRow): Promise<void>;
  /**
   * Requests certificates for hostnames that were created or edited, or have become active. Idempotent, because the same
   * hostname may be passed repeatedly. Resolves when the immediate work is done; problems of authorities never reject.
   */
  request(ids: readonly string[]): Promise<void>;
}
