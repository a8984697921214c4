import { createPrivateKey, X509Certificate } from "node:crypto";
import { isoMicros } from "#kernel/clock.ts";
import { loadX509 } from "#wire/x509/library.ts";

/** Facts from a certificate's content. */
export interface CertificateFacts {
  /** DNS names of the subject's alternative names, lower case. */
  readonly hosts: readonly string[];
  /** ISO 8601 in UTC with microseconds. */
  readonly notBefore: string;
  readonly notAfter: string;
  /** The issuer for people: organization and common name, as far as they exist. */
  readonly issuer: string;
  /** Decimal, as the API shows it. */
  readonly serialNumber: string;
  /** Such as `ECDSAWithSHA256`. */
  readonly signature: string;
  /** Its name in renewal advice (RFC 9773 §4.1); null if it does not name its issuer's key. */
  readonly renewalId: string | null;
}

const AUTHORITY_KEY = "2.5.29.35";
const HOSTS_MAX = 100;

/** Reads the first certificate of a chain in PEM; throws on any other input. */
export async function certificateFacts(chain: string): Promise<CertificateFacts> {
  const x509 = await loadX509();
  const leaf = new X509Certificate(chain);
  const parsed = new x509.X509Certificate(leaf.raw);
  const authorityKey = parsed.getExtension<InstanceType<typeof x509.AuthorityKeyIdentifierExtension>>(AUTHORITY_KEY)?.keyId;
  const { name: algorithm, hash } = parsed.signatureAlgorithm as { readonly name: string; readonly hash?: { readonly name: string } };
  const digest = hash?.name.replace("-", "") ?? "";
  const names = ["O", "CN"].flatMap((field) => parsed.issuerName.getField(field));
  return {
    hosts: hostsOf(leaf),
    notBefore: isoMicros(parsed.notBefore.getTime() * 1000),
    notAfter: isoMicros(parsed.notAfter.getTime() * 1000),
    issuer: names.join(" ") || leaf.issuer,
    serialNumber: BigInt(`0x${parsed.serialNumber}`).toString(),
    signature: algorithm === "ECDSA" ? `ECDSAWith${digest}` : `${digest}WithRSA`,
    renewalId: authorityKey === undefined ? null : `${base64url(authorityKey)}.${base64url(parsed.serialNumber)}`,
  };
}

function hostsOf(leaf: X509Certificate): readonly string[] {
  const names = (leaf.subjectAltName ?? "").split(", ").filter((name) => name.startsWith("DNS:"));
  return names.slice(0, HOSTS_MAX).map((name) => name.slice(4).toLowerCase());
}

const base64url = (hex: string): string => Buffer.from(hex, "hex").toString("base64url");

/** Whether the PEM key belongs to the chain's first certificate; throws if either cannot be read. */
export const isKeyOf = (chain: string, privateKey: string): boolean =>
  new X509Certificate(chain).checkPrivateKey(createPrivateKey(privateKey));
