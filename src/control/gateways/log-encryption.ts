import { constants, createCipheriv, createPublicKey, type KeyObject, publicEncrypt, randomBytes } from "node:crypto";

/** A value that only the holder of the private key can read; all of it base64. */
export interface EncryptedValue {
  readonly type: "encrypted";
  /** The key of this log: AES-256, encrypted by RSA-OAEP with SHA-256. */
  readonly key: string;
  readonly iv: string;
  /** AES-256-GCM: the ciphertext and, behind it, the tag of 16 bytes. */
  readonly data: string;
}

/** Encrypts the values of one log: they share its key, and each has its own iv. */
export type LogEncryption = () => (value: string | Uint8Array) => EncryptedValue;

const MODULUS_BITS_MIN = 2048;
const IV_BYTES = 12;

/** Undefined for what is no RSA public key of 2048 bits or more (PEM). */
export function readLogKey(pem: string): KeyObject | undefined {
  // Node takes private keys as well and gives their public half; a private key must not be sent here.
  if (!pem.includes("PUBLIC KEY")) return undefined;
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= MODULUS_BITS_MIN ? key : undefined;
  } catch {
    return undefined;
  }
}

export const createLogEncryption =
  (publicKey: KeyObject): LogEncryption =>
  () => {
    const secret = randomBytes(32);
    const key = publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" }, secret).toString("base64");
    return (value) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", secret, iv);
      const data = Buffer.concat([cipher.update(value as Uint8Array), cipher.final(), cipher.getAuthTag()]);
      return { type: "encrypted", key, iv: iv.toString("base64"), data: data.toString("base64") };
    };
  };
