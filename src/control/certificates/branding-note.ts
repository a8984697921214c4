import { COMMON_NAME_LENGTH_MAX } from "#model/hostnames/custom-hostname.ts";
import type { IssuerName } from "./choose-authority.ts";

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
