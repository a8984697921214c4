import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  scryptSync,
} from "node:crypto";
import { readBech32 } from "./bech32.ts";

/** Decryption by everybody who knows the passphrase, or by each of the recipients (`age1…`). */
export type AgeLock = { readonly passphrase: string } | { readonly recipients: readonly string[] };
/** A key that decrypts: the passphrase, or the key of one recipient (`AGE-SECRET-KEY-1…`). */
export type AgeKey = { readonly passphrase: string } | { readonly identity: string };

/** The file key, wrapped for one recipient: a stanza of the header (https://age-encryption.org/v1). */
export interface Stanza {
  readonly args: readonly string[];
  readonly body: Buffer;
}

/** The cost of our files: 128 MiB of memory and half a second for each guess. Other files may require up to the second value. */
const WORK_FACTOR = 17;
const WORK_FACTOR_MAX = 20;
const FILE_KEY_BYTES = 16;
const TAG_BYTES = 16;

/** Throws if a recipient is invalid. */
export function wrapFileKey(fileKey: Buffer, lock: AgeLock): readonly Stanza[] {
  if ("recipients" in lock) return lock.recipients.map((recipient) => wrapFor(fileKey, recipientKey(recipient)));
  const salt = randomBytes(16);
  const body = seal(passphraseKey(lock.passphrase, salt, WORK_FACTOR), fileKey);
  return [{ args: ["scrypt", base64(salt), String(WORK_FACTOR)], body }];
}

/** The file key; undefined if none of the stanzas is for this key. Throws if the key is invalid, or if opening would take too much memory. */
export function unwrapFileKey(stanzas: readonly Stanza[], key: AgeKey): Buffer | undefined {
  for (const stanza of stanzas) {
    const opened = "passphrase" in key ? openWithPassphrase(stanza, key.passphrase) : openAs(stanza, identityKey(key.identity));
    if (opened !== undefined) return opened;
  }
  return undefined;
}

/** Whether the text is a valid public key. */
export const isRecipient = (text: string): boolean => readBech32(text, "age")?.length === 32;

function openWithPassphrase({ args, body }: Stanza, passphrase: string): Buffer | undefined {
  const [type, salt = "", factor = ""] = args;
  if (type !== "scrypt" || args.length !== 3 || !/^[1-9]\d?$/.test(factor)) return undefined;
  if (Number(factor) > WORK_FACTOR_MAX)
    throw new Error(`the work factor of the passphrase (2^${factor}) is larger than the supported maximum (2^${WORK_FACTOR_MAX})`);
  return open(passphraseKey(passphrase, Buffer.from(salt, "base64"), Number(factor)), body);
}

function passphraseKey(passphrase: string, salt: Buffer, factor: number): Buffer {
  const N = 2 ** factor;
  const salted = Buffer.concat([Buffer.from("age-encryption.org/v1/scrypt"), salt]);
  return scryptSync(passphrase, salted, 32, { N, r: 8, p: 1, maxmem: 128 * N * 8 + (1 << 20) });
}

function wrapFor(fileKey: Buffer, recipient: Buffer): Stanza {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  const share = rawPublic(publicKey);
  const body = seal(sharedKey(diffieHellman({ privateKey, publicKey: publicOf(recipient) }), share, recipient), fileKey);
  return { args: ["X25519", base64(share)], body };
}

function openAs({ args: [type, encoded = ""], body }: Stanza, privateKey: KeyObject): Buffer | undefined {
  const share = Buffer.from(encoded, "base64");
  if (type !== "X25519" || share.length !== 32) return undefined;
  const recipient = rawPublic(createPublicKey(privateKey));
  return open(sharedKey(diffieHellman({ privateKey, publicKey: publicOf(share) }), share, recipient), body);
}

const sharedKey = (secret: Buffer, share: Buffer, recipient: Buffer): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, Buffer.concat([share, recipient]), "age-encryption.org/v1/X25519", 32));

function recipientKey(text: string): Buffer {
  const key = readBech32(text, "age");
  if (key?.length !== 32) throw new Error(`not a recipient, which age-keygen prints as age1…: ${text}`);
  return key;
}

function identityKey(text: string): KeyObject {
  const key = readBech32(text, "age-secret-key-");
  if (key?.length !== 32) throw new Error("not an identity, which age-keygen prints as AGE-SECRET-KEY-1…");
  return createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, key]), format: "der", type: "pkcs8" });
}

// RFC 8410 §10: the bytes before the 32 bytes of an X25519 key.
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b656e04220420", "hex");
const PUBLIC_PREFIX = Buffer.from("302a300506032b656e032100", "hex");

const publicOf = (raw: Buffer): KeyObject => createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, raw]), format: "der", type: "spki" });
const rawPublic = (key: KeyObject): Buffer => key.export({ format: "der", type: "spki" }).subarray(PUBLIC_PREFIX.length);

const NO_NONCE = Buffer.alloc(12);

/** Each key wraps only one file key, so the nonce can be constant. */
function seal(key: Buffer, fileKey: Buffer): Buffer {
  const cipher = createCipheriv("chacha20-poly1305", key, NO_NONCE, { authTagLength: TAG_BYTES });
  return Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Buffer, body: Buffer): Buffer | undefined {
  if (body.length !== FILE_KEY_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv("chacha20-poly1305", key, NO_NONCE, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(body.subarray(FILE_KEY_BYTES));
  try {
    return Buffer.concat([decipher.update(body.subarray(0, FILE_KEY_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Base64 without padding, as in headers of age. */
export const base64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
