import type { webcrypto } from "node:crypto";

/** The only kind of key that the local authority creates: P-256 is small, fast and supported by every client. */
export const KEY_ALGORITHM = { name: "ECDSA", namedCurve: "P-256" } as const;

/** The signature algorithm of P-256 keys. */
export const SIGNING_ALGORITHM = { name: "ECDSA", hash: "SHA-256" } as const;

export const generateKeyPair = (): Promise<webcrypto.CryptoKeyPair> => crypto.subtle.generateKey(KEY_ALGORITHM, true, ["sign", "verify"]);

/** A private key as PKCS #8 PEM. */
export async function exportPrivateKey(key: webcrypto.CryptoKey): Promise<string> {
  const base64 = Buffer.from(await crypto.subtle.exportKey("pkcs8", key)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${base64.replace(/.{64}(?=.)/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
}

/** Parses a P-256 private key from PKCS #8 PEM; throws on anything else. */
export async function importPrivateKey(pem: string): Promise<webcrypto.CryptoKey> {
  const body = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/.exec(pem)?.[1];
  if (body === undefined) throw new TypeError("not a PKCS #8 private key in PEM");
  return crypto.subtle.importKey("pkcs8", Buffer.from(body, "base64"), KEY_ALGORITHM, false, ["sign"]);
}
