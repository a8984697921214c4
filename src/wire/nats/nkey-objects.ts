import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { fromBase32 } from "#kernel/crypto/base32.ts";

// Nkeys (https://docs.nats.io/running-a-nats-service/configuration/securing_nats/auth_intro/nkey_auth) are Ed25519 keys in base32: a prefix of
// one byte, or of two for a seed, then the 32 bytes of the key, then a checksum.

const KEY_BYTES = 32;
/** RFC 8410 §7, before the seed. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** Throws an Error if the text is not a public nkey. */
export function nkeyPublicKey(text: string): KeyObject {
  const x = fromBase32(text)
    .subarray(1, 1 + KEY_BYTES)
    .toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}

/** Throws an Error if the text is not the seed of an nkey. */
export function nkeyPrivateKey(seed: string): KeyObject {
  const key = Buffer.concat([PKCS8, fromBase32(seed).subarray(2, 2 + KEY_BYTES)]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}
