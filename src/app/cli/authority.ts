import { X509Certificate } from "node:crypto";
import { readRegularFile } from "#kernel/process/regular-file.ts";
import { CliError, EXIT } from "./outcome.ts";

/** The PEM text of an authority's certificate; `named`: the option or variable that named the file. */
export function readAuthority(named: string, path: string): string {
  try {
    const pem = readRegularFile(path).toString();
    // Throws if it contains no certificate.
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    throw new CliError(`${named} ${path} is not a PEM file with the certificate of an authority: ${(error as Error).message}`, EXIT.usage);
  }
}

/** Codes of OpenSSL for certificates of an authority that is not trusted. */
const UNTRUSTED: ReadonlySet<string | undefined> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** The remedy for a certificate that is not trusted; empty for other failures. */
export function authorityAdvice(cause: unknown, isGiven: boolean): string {
  if (!UNTRUSTED.has((cause as Partial<NodeJS.ErrnoException> | undefined)?.code)) return "";
  const remedy = isGiven ? "the authority in the file of --ca did not issue it" : "give the PEM file of its authority with --ca";
  return `. This machine does not trust the certificate: ${remedy}`;
}
