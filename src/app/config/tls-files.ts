import { createPrivateKey, X509Certificate } from "node:crypto";
import { readRegularFile } from "#kernel/process/regular-file.ts";
import type { Config } from "./config.ts";

/** PEM texts; absent if everything is plain HTTP. */
export interface Tls {
  readonly tls?: { readonly certificate: string; readonly key: string };
}

/** In a handshake, clients refuse chains of more than 100 KiB. */
const CHAIN_BYTES_MAX = 128 * 1024;

/**
 * Read once: both planes that carry credentials use TLS with the same pair, or neither does. Throws an Error that names
 * the configuration key and the file.
 */
export function readTls({ certificate, key }: Config["tls"]): Tls {
  if (certificate === "") return {};
  const chain = read("tls.certificate", certificate, CHAIN_BYTES_MAX, "no certificate in PEM form", (text) => new X509Certificate(text));
  const secret = read("tls.key", key, CHAIN_BYTES_MAX, "no private key in PEM form", createPrivateKey);
  if (!chain.value.checkPrivateKey(secret.value)) throw new Error(`tls.key: ${key} does not belong to the certificate in ${certificate}`);
  return { tls: { certificate: chain.text, key: secret.text } };
}

/** The names and addresses that clients find in the certificate, in lower case (RFC 5280 §4.2.1.6). */
export function certificateNames({ tls }: Tls): readonly string[] {
  if (tls === undefined) return [];
  const names = new X509Certificate(tls.certificate).subjectAltName ?? "";
  // A name that contains a comma is quoted, and is not a host name.
  return names.split(", ").flatMap((entry) => /^(?:DNS|IP Address):([\w.*:-]+)$/.exec(entry)?.[1]?.toLowerCase() ?? []);
}

/** The text of `certificates.roots`. Throws an Error that names the key and the file. */
export const readRoots = (path: string): string =>
  read("certificates.roots", path, undefined, "no certificate in PEM form", (text) => new X509Certificate(text)).text;

function read<T>(
  name: string,
  path: string,
  bytesMax: number | undefined,
  otherwise: string,
  parse: (text: string) => T,
): { readonly text: string; readonly value: T } {
  let text: string;
  try {
    text = readRegularFile(path, bytesMax).toString();
  } catch (cause) {
    throw new Error(`${name}: cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
  try {
    return { text, value: parse(text) };
  } catch (cause) {
    throw new Error(`${name}: ${path} has ${otherwise}`, { cause });
  }
}
