import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/**
 * Encrypts secrets at rest: AES-256-GCM with a random 96-bit nonce per value. A sealed value is `sv1.` + base64url(nonce
 * ‖ tag ‖ ciphertext). `context` is authenticated, so that a value copied to another row or field cannot be opened.
 */
export interface Sealer {
  seal(plaintext: string | Uint8Array, context: string): string;
  /** Throws if the value was changed, or sealed with another context or key. */
  open(sealed: string, context: string): Buffer;
  /** Derives a 32-byte key for another purpose (`deriveKey`). */
  derive(purpose: string): Uint8Array;
}

/** Derives a key for another purpose, from which the sealing key cannot be computed (HKDF, RFC 5869). */
export const deriveKey = (key: Uint8Array, purpose: string, bytes: number): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", key, "", `selvedge ${purpose}`, bytes));

const PREFIX = "sv1.";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createSealer(key: Uint8Array): Sealer {
  if (key.length !== 32) throw new RangeError("the sealing key must have 32 bytes");
  return {
    seal: (plaintext, context) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plaintext as Uint8Array), cipher.final()]);
      return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
    },
    open: (sealed, context) => {
      if (!sealed.startsWith(PREFIX)) throw new Error("not a sealed value");
      const bytes = Buffer.from(sealed.slice(PREFIX.length), "base64url");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error("not a sealed value");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    },
    derive: (purpose) => deriveKey(key, purpose, 32),
  };
}
