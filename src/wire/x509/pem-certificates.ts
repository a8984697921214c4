import { X509Certificate } from "node:crypto";

/** Longer than any chain in use; clients read each of its bytes in each handshake. */
export const CHAIN_LENGTH_MAX = 10;
const TEXT_LENGTH_MAX = 64 * 1024;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a text in PEM, without anything else in it; null if it is too long or one cannot be read. */
export function readPemCertificates(text: string): readonly X509Certificate[] | null {
  const parts = text.length > TEXT_LENGTH_MAX ? null : text.match(PEM_CERTIFICATE);
  if (parts === null) return null;
  try {
    return parts.slice(0, CHAIN_LENGTH_MAX + 1).map((part) => new X509Certificate(part));
  } catch {
    return null;
  }
}

/** Whether the upper certificate is that of the lower one's issuer. */
export const isIssued = (lower: X509Certificate, upper: X509Certificate): boolean =>
  lower.checkIssued(upper) && lower.verify(upper.publicKey);

export const pemOf = (chain: readonly X509Certificate[]): string => chain.map((one) => one.toString().trim()).join("\n") + "\n";
