import { createHash } from "node:crypto";
import { keyOf, nameOfKey, parseAbsoluteName } from "./name.ts";

/** RFC 4034 §2.1.1: a zone key that is also the secure entry point, because one key signs everything here (RFC 6781 §3.1). */
export const CSK_FLAGS = 257;
/** RFC 4034 §2.1.2. */
export const DNSKEY_PROTOCOL = 3;
/** ECDSA P-256 with SHA-256 (RFC 6605 §4). */
export const ALGORITHM_ECDSAP256SHA256 = 13;
/** RFC 4509. */
export const DIGEST_SHA256 = 2;

/** TTL in seconds of the DNSKEY set; short, so that all resolvers know a new key within hours. */
export const DNSKEY_TTL_SECONDS = 3600;

/** RDATA of the DNSKEY record (RFC 4034 §2.1). `publicKey` is the curve point, x and y of 32 bytes each (RFC 6605 §4). */
export const dnskeyRdata = (publicKey: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(CSK_FLAGS >> 8, CSK_FLAGS & 0xff, DNSKEY_PROTOCOL, ALGORITHM_ECDSAP256SHA256), publicKey]);

/** RFC 4034 appendix B: a checksum that distinguishes keys, but may collide. */
export function keyTag(rdata: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < rdata.length; i++) sum += i % 2 === 0 ? (rdata[i] as number) << 8 : (rdata[i] as number);
  return (sum + (sum >>> 16)) & 0xffff;
}

/** RDATA of the DS record, and of CDS, for the key (RFC 4034 §5.1). */
export const dsRdata = (owner: string, rdata: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.of(keyTag(rdata) >> 8, keyTag(rdata) & 0xff, ALGORITHM_ECDSAP256SHA256, DIGEST_SHA256),
    Buffer.from(dsDigest(owner, rdata), "hex"),
  ]);

/** RDATA of the CDS and CDNSKEY that ask the parent to remove all DS records (RFC 8078 §4). */
export const CDS_DELETE = Buffer.of(0, 0, 0, 0, 0);
export const CDNSKEY_DELETE = Buffer.of(0, 0, DNSKEY_PROTOCOL, 0, 0);

/** The digest of a DS record in upper-case hexadecimal (RFC 4034 §5.1.4), over the owner's canonical name and the key. */
export const dsDigest = (owner: string, rdata: Uint8Array): string => digestOf("sha256", owner, rdata).toString("hex").toUpperCase();

/** Digest types of DS records (RFC 8624 §3.3), under the names of the crypto library. */
const DIGESTS: Readonly<Record<number, string>> = { 1: "sha1", [DIGEST_SHA256]: "sha256", 4: "sha384" };

/** Whether the RDATA of a DS record refers to the key; false for an unknown digest type. */
export function dsNamesKey(ds: Uint8Array, owner: string, key: Uint8Array): boolean {
  const digest = DIGESTS[ds[3] ?? 0];
  if (digest === undefined || ds.length < 5 || ((ds[0] as number) << 8) + (ds[1] as number) !== keyTag(key) || ds[2] !== key[3])
    return false;
  return digestOf(digest, owner, key).equals(ds.subarray(4));
}

const digestOf = (digest: string, owner: string, rdata: Uint8Array): Buffer =>
  createHash(digest)
    .update(nameOfKey(keyOf(parseAbsoluteName(owner))))
    .update(rdata)
    .digest();
