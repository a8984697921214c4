import type { Call } from "#control/call.ts";
import { issuerOf, readUploaded, type UploadErrors } from "#control/certificates/uploaded.ts";
import type { Clock } from "#kernel/clock.ts";
import { hostnameMatches } from "#kernel/net/hostname.ts";
import type { DeployedCertificate, HostnameCertificates } from "./hostname-certificates.ts";

/** Uploaded certificates of hostnames. */
export interface OwnCertificates {
  /** Throws errors 1426 to 1429 and 1442 to 1446 if the certificate cannot be used for the hostname. */
  read(given: { readonly certificate: unknown; readonly key: unknown }, hostname: string): DeployedCertificate;
  deploy(call: Call, id: string, certificate: DeployedCertificate): Promise<boolean>;
}

const ERRORS: UploadErrors = {
  fields: { certificate: "/ssl/custom_certificate", key: "/ssl/custom_key" },
  names: {
    empty: "hostname_certificate_empty",
    unreadable: "hostname_certificate_unreadable",
    keyEmpty: "hostname_certificate_empty",
    keyUnreadable: "hostname_key_unreadable",
    keyMismatch: "hostname_key_mismatch",
    weak: "hostname_chain_weak",
    expired: "hostname_chain_expired",
    otherNames: "hostname_chain_other_names",
    broken: "hostname_chain_broken",
    tooLong: "hostname_chain_too_long",
  },
};

export function createOwnCertificates(deps: { readonly clock: Clock; readonly certificates: HostnameCertificates }): OwnCertificates {
  return {
    read: (given, hostname) => {
      const covers = (names: readonly string[]): boolean => names.some((name) => hostnameMatches(name, hostname));
      const { leaf, chain, privateKey } = readUploaded(given, { nowMs: deps.clock.nowMs(), errors: ERRORS, covers });
      // The certificate is used for this hostname only, not for its other names.
      return { chain, privateKey, hosts: [hostname], issuer: issuerOf(leaf), isCustom: true };
    },
    deploy: deps.certificates.deploy,
  };
}
