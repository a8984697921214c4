import { constants, createCipheriv, createPublicKey, type KeyObject, publicEncrypt, randomBytes } from "node:crypto";

/** A value that only the holder of the private key can decrypt; all members are base64. */
export interface EncryptedValue {
  readonly type: "encrypted";
  /** This log's AES-256 key, encrypted with RSA-OAEP and SHA-256. */
  readonly key: string;
  readonly iv: string;
  /** AES-256-GCM: the ciphertext followed by the tag of 16 bytes. */
  readonly data: string;
}

/** Creates an encryption for one log: its values share a key, and each has its own IV. */
export type LogEncryption = () => (value: string | Uint8Array) => EncryptedValue;

const MODULUS_BITS_MIN = 2048;
const IV_BYTES = 12;

/** Undefined if the text is not an RSA public key of at least 2048 bits (PEM). */
export function readLogKey(pem: string): KeyObject | undefined {
  // createPublicKey also accepts private keys, which must not be sent here.
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
