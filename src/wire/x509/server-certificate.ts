import { createPrivateKey, KeyObject, type webcrypto, X509Certificate } from "node:crypto";
import { distinguishedName, extension, keyIdentifier, publicKeyBytes, signedCertificate } from "./certificate.ts";
import { der, derParts } from "./der.ts";

/** The authority that signs. */
export interface Issuer {
  /** Encoded as in its own certificate, because readers compare the bytes. */
  readonly name: Buffer;
  readonly keyIdentifier: Buffer;
  /** ECDSA on P-256. */
  readonly key: KeyObject;
}

export interface ServerDescription {
  /** Lower case, ASCII, at least one; a first label of `*` is a wildcard. */
  readonly hosts: readonly string[];
  /** One of the hosts; null leaves the subject empty. */
  readonly commonName: string | null;
  /** Positive, most significant byte first. */
  readonly serialNumber: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** ECDSA on P-256. */
  readonly publicKey: webcrypto.CryptoKey;
}

/** Index of the subject in a certificate: version, number, algorithm, issuer and validity precede it (RFC 5280 §4.1). */
const SUBJECT_AT = 5;

/** Opens an authority's PEM certificate and PKCS #8 P-256 key. Throws on anything else. */
export function openIssuer(certificate: string, privateKey: string): Issuer {
  const { raw, publicKey } = new X509Certificate(certificate);
  const [body] = derParts(raw, 1);
  const name = body === undefined ? undefined : derParts(body, SUBJECT_AT + 1)[SUBJECT_AT];
  const key = createPrivateKey(privateKey);
  if (name === undefined) throw new TypeError("a certificate without a subject");
  if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new TypeError("the authority's key is not on P-256");
  return { name, keyIdentifier: keyIdentifier(publicKeyBytes(publicKey)), key };
}

const NO_AUTHORITY = der.sequence();
/** digitalSignature, the bit 0. */
const SIGNS_HANDSHAKES = der.bits(Buffer.of(0b1000_0000), 7);
const SERVER_AUTHENTICATION = der.sequence(der.objectIdentifier("1.3.6.1.5.5.7.3.1"));
/** GeneralName, dNSName (RFC 5280 §4.2.1.6). */
const DNS_NAME = 2;
/** AuthorityKeyIdentifier, keyIdentifier (RFC 5280 §4.2.1.1). */
const KEY_IDENTIFIER = 0;

/** A TLS server certificate, as PEM. */
export function serverCertificate(server: ServerDescription, issuer: Issuer): string {
  const { serialNumber, notBefore, notAfter, commonName } = server;
  const publicKey = publicKeyBytes(KeyObject.from(server.publicKey));
  const names = server.hosts.map((host) => der.implicit(DNS_NAME, Buffer.from(host, "latin1")));
  const extensions = [
    extension("2.5.29.19", NO_AUTHORITY, true),
    extension("2.5.29.15", SIGNS_HANDSHAKES, true),
    extension("2.5.29.37", SERVER_AUTHENTICATION, false),
    // RFC 5280 §4.2.1.6: critical if the subject is empty.
    extension("2.5.29.17", der.sequence(...names), commonName === null),
    extension("2.5.29.14", der.octets(keyIdentifier(publicKey)), false),
    extension("2.5.29.35", der.sequence(der.implicit(KEY_IDENTIFIER, issuer.keyIdentifier)), false),
  ];
  const subject = distinguishedName(commonName === null ? {} : { commonName });
  return signedCertificate({ serialNumber, issuer: issuer.name, subject, notBefore, notAfter, publicKey, extensions }, issuer.key);
}
