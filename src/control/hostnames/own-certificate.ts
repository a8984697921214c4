import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { Call } from "#control/call.ts";
import type { Clock } from "#kernel/clock.ts";
import type { ErrorName } from "#kernel/error-codes.ts";
import { PlatformError } from "#kernel/errors.ts";
import { hostnameMatches } from "#kernel/hostname.ts";
import type { DeployedCertificate, HostnameCertificates } from "./hostname-certificates.ts";

/** Certificates that a hostname's owner brings. */
export interface OwnCertificates {
  /** Throws 1426 to 1429 and 1442 to 1446 where it cannot be used for the hostname. */
  read(given: { readonly certificate: unknown; readonly key: unknown }, hostname: string): DeployedCertificate;
  deploy(call: Call, id: string, certificate: DeployedCertificate): Promise<boolean>;
}

const TEXT_LENGTH_MAX = 64 * 1024;
const CHAIN_LENGTH_MAX = 10;
const RSA_BITS_MIN = 2048;
const CURVES = new Set(["prime256v1", "secp384r1"]);
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export function createOwnCertificates(deps: { readonly clock: Clock; readonly certificates: HostnameCertificates }): OwnCertificates {
  return {
    read: ({ certificate, key }, hostname) => {
      const chain = readChain(certificate);
      const leaf = chain[0] as X509Certificate;
      const privateKey = readKey(key);
      if (!leaf.checkPrivateKey(privateKey)) refuse("hostname_key_mismatch", "custom_key");
      if (!isStrong(leaf.publicKey)) refuse("hostname_chain_weak");
      const nowMs = deps.clock.nowMs();
      if (leaf.validFromDate.getTime() > nowMs || leaf.validToDate.getTime() <= nowMs) refuse("hostname_chain_expired");
      const names = namesOf(leaf);
      if (!names.some((name) => hostnameMatches(name, hostname))) refuse("hostname_chain_other_names");
      if (chain.some((one, index) => index > 0 && !isIssued(chain[index - 1] as X509Certificate, one))) refuse("hostname_chain_broken");
      return {
        chain: chain.map((one) => one.toString().trim()).join("\n") + "\n",
        privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
        // Other names of the certificate are none of this hostname's business.
        hosts: [hostname],
        issuer: /^O=(.+)$/m.exec(leaf.issuer)?.[1] ?? /^CN=(.+)$/m.exec(leaf.issuer)?.[1] ?? "unknown",
        isCustom: true,
      };
    },
    deploy: deps.certificates.deploy,
  };
}

function readChain(text: unknown): readonly X509Certificate[] {
  if (typeof text !== "string" || text.trim() === "") return refuse("hostname_certificate_empty");
  const parts = text.length > TEXT_LENGTH_MAX ? null : text.match(PEM_CERTIFICATE);
  if (parts === null) return refuse("hostname_certificate_unreadable");
  if (parts.length > CHAIN_LENGTH_MAX) return refuse("hostname_chain_too_long");
  try {
    return parts.map((part) => new X509Certificate(part));
  } catch {
    return refuse("hostname_certificate_unreadable");
  }
}

function readKey(text: unknown): KeyObject {
  if (typeof text !== "string" || text.trim() === "") return refuse("hostname_certificate_empty", "custom_key");
  try {
    return createPrivateKey(text.slice(0, TEXT_LENGTH_MAX));
  } catch {
    return refuse("hostname_key_unreadable", "custom_key");
  }
}

function isStrong(key: KeyObject): boolean {
  const { modulusLength = 0, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  return key.asymmetricKeyType === "rsa" ? modulusLength >= RSA_BITS_MIN : CURVES.has(namedCurve);
}

const isIssued = (lower: X509Certificate, upper: X509Certificate): boolean => lower.checkIssued(upper) && lower.verify(upper.publicKey);

const namesOf = (leaf: X509Certificate): readonly string[] =>
  (leaf.subjectAltName ?? "").split(", ").flatMap((name) => (name.startsWith("DNS:") ? [name.slice(4).toLowerCase()] : []));

function refuse(name: ErrorName, field = "custom_certificate"): never {
  throw new PlatformError(name, { source: `/ssl/${field}` });
}
