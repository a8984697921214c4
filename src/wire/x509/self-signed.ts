import { createHash, KeyObject, sign, type webcrypto } from "node:crypto";
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

const ECDSA_WITH_SHA256 = der.sequence(der.objectIdentifier("1.2.840.10045.4.3.2"));
const VERSION_3 = der.tagged(0, der.integer(Buffer.of(2)));
/** keyCertSign and cRLSign, the bits 5 and 6. */
const SIGNS_CERTIFICATES_AND_LISTS = der.bits(Buffer.of(0b0000_0110), 1);

/**
 * The root of an authority that signs certificates of servers and no other authority's, as PEM (RFC 5280 §4). Written here, since
 * the library that does all else with certificates takes 90 ms and 8 MB, and most servers never need it after their first start.
 */
export function selfSignedRoot(root: RootDescription): string {
  const name = der.sequence(attribute("2.5.4.3", root.commonName), attribute("2.5.4.10", root.organization));
  const publicKey = KeyObject.from(root.keys.publicKey).export({ type: "spki", format: "der" });
  const body = der.sequence(
    VERSION_3,
    der.integer(root.serialNumber),
    ECDSA_WITH_SHA256,
    name,
    der.sequence(der.time(root.notBefore), der.time(root.notAfter)),
    name,
    publicKey,
    der.tagged(
      3,
      der.sequence(
        extension("2.5.29.19", der.sequence(der.true(), der.integer(Buffer.of(0))), true),
        extension("2.5.29.15", SIGNS_CERTIFICATES_AND_LISTS, true),
        extension("2.5.29.14", der.octets(keyIdentifier(publicKey)), false),
      ),
    ),
  );
  const signature = sign("sha256", body, KeyObject.from(root.keys.privateKey));
  const text = der.sequence(body, ECDSA_WITH_SHA256, der.bits(signature)).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${(text.match(/.{1,64}/g) ?? []).join("\n")}\n-----END CERTIFICATE-----\n`;
}

const attribute = (type: string, value: string): Buffer => der.set(der.sequence(der.objectIdentifier(type), der.text(value)));

const extension = (id: string, value: Buffer, isCritical: boolean): Buffer =>
  der.sequence(der.objectIdentifier(id), ...(isCritical ? [der.true()] : []), der.octets(value));

/** An uncompressed point of P-256 ends its key's description. */
const POINT_BYTES = 65;

/** SHA-1 of the key's bits (RFC 5280 §4.2.1.2, method 1). */
const keyIdentifier = (publicKey: Buffer): Buffer => createHash("sha1").update(publicKey.subarray(-POINT_BYTES)).digest();
