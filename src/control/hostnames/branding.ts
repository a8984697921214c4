import type { IssuerName } from "#control/certificates/choose-authority.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { COMMON_NAME_LENGTH_MAX } from "#model/hostnames/custom-hostname.ts";

/** A longer name needs a name of the service as the Common Name (SPEC 2.7). Throws `hostname_too_long`. */
export function checkCommonName(hostname: string, isBranded: boolean, vendorPrefix: string): void {
  if (hostname.length <= COMMON_NAME_LENGTH_MAX || isBranded) return;
  throw new PlatformError("hostname_too_long", {
    message: `The hostname has ${hostname.length} characters; with more than ${COMMON_NAME_LENGTH_MAX}, set ${vendorPrefix}_branding to true`,
    source: "/hostname",
  });
}

/**
 * Why the Common Name is not the service's although it was asked for, or null. `issuers`: in order of preference;
 * `requested`: the authority, or empty for the first of them.
 */
export function brandingNote(hostname: string, issuers: readonly IssuerName[], requested: string): string | null {
  const issuer = requested === "" ? issuers[0] : issuers.find((name) => name === requested);
  // Only the installation's own authority signs a name that is in no public zone (CA/Browser Forum Baseline Requirements, 3.2.2.4).
  if (issuer === undefined || issuer === "local") return null;
  const instead = hostname.length > COMMON_NAME_LENGTH_MAX ? "the certificate has no Common Name" : `the Common Name is ${hostname}`;
  return `The authority ${issuer} does not sign this service's name, so ${instead}. The installation's own authority would sign it.`;
}
