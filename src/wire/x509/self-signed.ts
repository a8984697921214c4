import { KeyObject, type webcrypto } from "node:crypto";
import { distinguishedName, extension, keyIdentifier, publicKeyBytes, signedCertificate } from "./certificate.ts";
import { der } from "./der.ts";

export interface RootDescription {
  readonly commonName: string;
  readonly organization: string;
  /** Positive, most significant byte first. */
  readonly serialNumber: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** ECDSA on P-256. */
  readonly keys: webcrypto.CryptoKeyPair;
}

/** keyCertSign and cRLSign, the bits 5 and 6. */
const SIGNS_CERTIFICATES_AND_LISTS = der.bits(Buffer.of(0b0000_0110), 1);

/** The root certificate of an authority that only signs server certificates, as PEM (RFC 5280 §4). */
export function selfSignedRoot({ serialNumber, notBefore, notAfter, keys, ...names }: RootDescription): string {
  const name = distinguishedName(names);
  const publicKey = publicKeyBytes(KeyObject.from(keys.publicKey));
  const extensions = [
    extension("2.5.29.19", der.sequence(der.true(), der.integer(Buffer.of(0))), true),
    extension("2.5.29.15", SIGNS_CERTIFICATES_AND_LISTS, true),
    extension("2.5.29.14", der.octets(keyIdentifier(publicKey)), false),
  ];
  return signedCertificate(
    { serialNumber, issuer: name, subject: name, notBefore, notAfter, publicKey, extensions },
    KeyObject.from(keys.privateKey),
  );
}
