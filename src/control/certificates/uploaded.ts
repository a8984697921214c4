import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { CHAIN_LENGTH_MAX, isIssued, pemOf, readPemCertificates } from "#wire/x509/pem-certificates.ts";

/** An uploaded certificate with its key. */
export interface Uploaded {
  readonly leaf: X509Certificate;
  /** PEM, leaf first. */
  readonly chain: string;
  /** PKCS #8 PEM, unsealed. */
  readonly privateKey: string;
  /** DNS names of the subject's alternative names, lower case. */
  readonly names: readonly string[];
}

/** For each problem, the error and the member of the body to which it refers. */
export interface UploadErrors {
  readonly fields: { readonly certificate: string; readonly key: string };
  readonly names: Readonly<
    Record<
      "empty" | "unreadable" | "keyEmpty" | "keyUnreadable" | "keyMismatch" | "weak" | "expired" | "otherNames" | "broken" | "tooLong",
      ErrorName
    >
  >;
}

const TEXT_LENGTH_MAX = 64 * 1024;
const RSA_BITS_MIN = 2048;
const CURVES = new Set(["prime256v1", "secp384r1"]);

/** Throws the matching one of `errors` if the certificate cannot be used now, or does not cover the names. */
export function readUploaded(
  given: { readonly certificate: unknown; readonly key: unknown },
  { nowMs, errors, covers }: { readonly nowMs: number; readonly errors: UploadErrors; covers(names: readonly string[]): boolean },
): Uploaded {
  const refuse: Refuse = (problem, field = "certificate") => {
    throw new PlatformError(errors.names[problem], { source: errors.fields[field] });
  };
  const chain = readChain(given.certificate, refuse);
  const leaf = chain[0] as X509Certificate;
  const privateKey = readKey(given.key, refuse);
  if (!leaf.checkPrivateKey(privateKey)) refuse("keyMismatch", "key");
  if (!isStrong(leaf.publicKey)) refuse("weak");
  if (leaf.validFromDate.getTime() > nowMs || leaf.validToDate.getTime() <= nowMs) refuse("expired");
  const names = namesOf(leaf);
  if (!covers(names)) refuse("otherNames");
  if (chain.some((one, index) => index > 0 && !isIssued(chain[index - 1] as X509Certificate, one))) refuse("broken");
  return {
    leaf,
    chain: pemOf(chain),
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    names,
  };
}

type Refuse = (problem: keyof UploadErrors["names"], field?: "certificate" | "key") => never;

function readChain(text: unknown, refuse: Refuse): readonly X509Certificate[] {
  if (typeof text !== "string" || text.trim() === "") return refuse("empty");
  const chain = readPemCertificates(text);
  if (chain === null) return refuse("unreadable");
  return chain.length > CHAIN_LENGTH_MAX ? refuse("tooLong") : chain;
}

function readKey(text: unknown, refuse: Refuse): KeyObject {
  if (typeof text !== "string" || text.trim() === "") return refuse("keyEmpty", "key");
  try {
    return createPrivateKey(text.slice(0, TEXT_LENGTH_MAX));
  } catch {
    return refuse("keyUnreadable", "key");
  }
}

function isStrong(key: KeyObject): boolean {
  const { modulusLength = 0, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  return key.asymmetricKeyType === "rsa" ? modulusLength >= RSA_BITS_MIN : CURVES.has(namedCurve);
}

const namesOf = (leaf: X509Certificate): readonly string[] =>
  (leaf.subjectAltName ?? "").split(", ").flatMap((name) => (name.startsWith("DNS:") ? [name.slice(4).toLowerCase()] : []));

/** The displayed issuer of a certificate: its organization, or else its common name. */
export const issuerOf = (leaf: X509Certificate): string =>
  // linear: pumped
  /^O=(.+)$/m.exec(leaf.issuer)?.[1] ?? /^CN=(.+)$/m.exec(leaf.issuer)?.[1] ?? "unknown";

/** In the format of published clients: `ECDSAWithSHA256`. */
export const signatureOf = (leaf: X509Certificate): string =>
  (leaf.signatureAlgorithm ?? "").replace(/^ecdsa-with-SHA/i, "ECDSAWithSHA").replace(/^sha(\d+)WithRSAEncryption$/i, "SHA$1WithRSA");
