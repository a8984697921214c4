import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from "node:crypto";

/**
 * Encrypts text for the holder of a private key: X25519 (RFC 7748) with an ephemeral key, HKDF-SHA-256 (RFC 5869) and
 * AES-256-GCM. An envelope is `mde1.` + base64url(ephemeral public key ‖ tag ‖ ciphertext). Keys are the 32 bytes of RFC
 * 7748 in base64.
 */
export function sealEnvelope(publicKey: string, text: string): string {
  const recipient = publicKeyOf(publicKey);
  const own = generateKeyPairSync("x25519");
  const sender = rawPublic(own.publicKey);
  const key = messageKey(diffieHellman({ privateKey: own.privateKey, publicKey: recipient }), sender, Buffer.from(publicKey, "base64"));
  const cipher = createCipheriv("aes-256-gcm", key, NONCE);
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return PREFIX + Buffer.concat([sender, cipher.getAuthTag(), body]).toString("base64url");
}

/** Throws if the text is not an envelope, was changed, or is for another key. */
export function openEnvelope(privateKey: string, envelope: string): string {
  if (!envelope.startsWith(PREFIX)) throw new Error(`an envelope must start with ${PREFIX}`);
  const bytes = Buffer.from(envelope.slice(PREFIX.length), "base64url");
  if (bytes.length < KEY_BYTES + TAG_BYTES) throw new Error("the envelope is truncated");
  const own = privateKeyOf(privateKey);
  const sender = bytes.subarray(0, KEY_BYTES);
  const shared = diffieHellman({ privateKey: own, publicKey: publicKeyOf(sender.toString("base64")) });
  const key = messageKey(shared, sender, rawPublic(createPublicKey(own)));
  const decipher = createDecipheriv("aes-256-gcm", key, NONCE).setAuthTag(bytes.subarray(KEY_BYTES, KEY_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(KEY_BYTES + TAG_BYTES)), decipher.final()]).toString();
}

export function newEnvelopeKeys(): { readonly public_key: string; readonly private_key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  const { d = "" } = privateKey.export({ format: "jwk" });
  return { public_key: rawPublic(publicKey).toString("base64"), private_key: Buffer.from(d, "base64url").toString("base64") };
}

/** Whether the text is a valid public key: base64 of 32 bytes, and not a point of small order. */
export function isEnvelopeKey(publicKey: string): boolean {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(publicKey)) return false;
  try {
    sealEnvelope(publicKey, "");
    return true;
  } catch {
    return false;
  }
}

const PREFIX = "mde1.";
const KEY_BYTES = 32;
const TAG_BYTES = 16;
// Each key encrypts only one message, so the nonce may be constant (RFC 5116 §3.1).
const NONCE = Buffer.alloc(12);

const messageKey = (shared: Buffer, sender: Buffer, recipient: Buffer): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", shared, Buffer.concat([sender, recipient]), "selvedge matched data", KEY_BYTES));

const rawPublic = (key: KeyObject): Buffer => Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");

const publicKeyOf = (publicKey: string): KeyObject =>
  createPublicKey({ key: { kty: "OKP", crv: "X25519", x: Buffer.from(publicKey, "base64").toString("base64url") }, format: "jwk" });

/** RFC 8410 §7: the 32 bytes after a fixed prefix. */
function privateKeyOf(privateKey: string): KeyObject {
  const bytes = Buffer.from(privateKey, "base64");
  if (bytes.length !== KEY_BYTES) throw new Error("a private key must be base64 of 32 bytes");
  return createPrivateKey({ key: Buffer.concat([PKCS8_X25519, bytes]), format: "der", type: "pkcs8" });
}

const PKCS8_X25519 = Buffer.from("302e020100300506032b656e04220420", "hex");
