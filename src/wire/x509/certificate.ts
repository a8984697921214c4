import { createHash, type KeyObject, sign } from "node:crypto";
import { der } from "./der.ts";

/** The contents of a certificate; some parts are already encoded. */
export interface CertificateParts {
  /** Positive, most significant byte first. */
  readonly serialNumber: Uint8Array;
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The SubjectPublicKeyInfo of a P-256 key. */
  readonly publicKey: Buffer;
  readonly extensions: readonly Buffer[];
}

const ECDSA_WITH_SHA256 = der.sequence(der.objectIdentifier("1.2.840.10045.4.3.2"));
const VERSION_3 = der.tagged(0, der.integer(Buffer.of(2)));

/**
 * A certificate as PEM (RFC 5280 §4), signed with a P-256 key. Encoded here because the X.509 library takes 90 ms and 8
 * MB to load, and every server's first start creates two certificates.
 */
export function signedCertificate(parts: CertificateParts, signingKey: KeyObject): string {
  const body = der.sequence(
    VERSION_3,
    der.integer(parts.serialNumber),
    ECDSA_WITH_SHA256,
    parts.issuer,
    der.sequence(der.time(parts.notBefore), der.time(parts.notAfter)),
    parts.subject,
    parts.publicKey,
    der.tagged(3, der.sequence(...parts.extensions)),
  );
  const signature = sign("sha256", body, signingKey);
  const text = der.sequence(body, ECDSA_WITH_SHA256, der.bits(signature)).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${(text.match(/.{1,64}/g) ?? []).join("\n")}\n-----END CERTIFICATE-----\n`;
}

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";

/** The distinguished name of a subject or issuer. */
export const distinguishedName = ({ commonName, organization }: { readonly commonName?: string; readonly organization?: string }): Buffer =>
  der.sequence(
    ...(commonName === undefined ? [] : [attribute(COMMON_NAME, commonName)]),
    ...(organization === undefined ? [] : [attribute(ORGANIZATION, organization)]),
  );

const attribute = (type: string, value: string): Buffer => der.set(der.sequence(der.objectIdentifier(type), der.text(value)));

export const extension = (id: string, value: Buffer, isCritical: boolean): Buffer =>
  der.sequence(der.objectIdentifier(id), ...(isCritical ? [der.true()] : []), der.octets(value));

/** The key's SubjectPublicKeyInfo ends with an uncompressed P-256 point. */
const POINT_BYTES = 65;

/** SHA-1 of the key's bits (RFC 5280 §4.2.1.2, method 1). */
export const keyIdentifier = (publicKey: Buffer): Buffer => createHash("sha1").update(publicKey.subarray(-POINT_BYTES)).digest();

/** SubjectPublicKeyInfo. */
export const publicKeyBytes = (key: KeyObject): Buffer => key.export({ type: "spki", format: "der" });
