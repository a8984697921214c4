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
