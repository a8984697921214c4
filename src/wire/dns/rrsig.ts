import { type KeyObject, sign } from "node:crypto";
import { canonicalName, canonicalRdatas, signedLabels } from "./canonical.ts";
import { CLASS } from "./codes.ts";
import { ALGORITHM_ECDSAP256SHA256 } from "./dnssec-key.ts";
import { type DnsName, type NameKey, nameOfKey } from "./name.ts";

/** An RRset to sign. */
export interface SignedSet {
  /** The owner name in the zone; may be a wildcard. */
  readonly owner: NameKey;
  readonly type: number;
  /** The zone's TTL in seconds, which the signature covers even after resolvers have decremented it (RFC 4034 §3.1.4). */
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
}

/** Validity of a signature in seconds since the Unix epoch; the wire format wraps (RFC 4034 §3.1.5). */
export interface Validity {
  readonly inception: number;
  readonly expiration: number;
}

/** A key of algorithm 13, ready to sign. */
export interface SigningKey {
  /** The zone's name. */
  readonly signer: DnsName;
  readonly tag: number;
  readonly privateKey: KeyObject;
}

/** RDATA of the RRSIG for the set (RFC 4034 §3.1). */
export function rrsigRdata(set: SignedSet, key: SigningKey, validity: Validity): Buffer {
  const head = rrsigHead(set, key, validity);
  return Buffer.concat([head, plainSignature(sign("sha256", signedBytes(head, set), key.privateKey))]);
}

/** The RDATA without the signature. */
function rrsigHead({ owner, type, ttl }: SignedSet, { signer, tag }: SigningKey, { inception, expiration }: Validity): Buffer {
  const fields = Buffer.allocUnsafe(18);
  fields.writeUInt16BE(type, 0);
  fields[2] = ALGORITHM_ECDSAP256SHA256;
  fields[3] = signedLabels(owner);
  fields.writeUInt32BE(ttl, 4);
  fields.writeUInt32BE(expiration >>> 0, 8);
  fields.writeUInt32BE(inception >>> 0, 12);
  fields.writeUInt16BE(tag, 16);
  return Buffer.concat([fields, canonicalName(signer)]);
}

/** The signed data: the head, then the records in canonical form and order (RFC 4034 §3.1.8.1). */
export function signedBytes(head: Uint8Array, { owner, type, ttl, rdatas }: SignedSet): Buffer {
  const parts: Uint8Array[] = [head];
  const name = nameOfKey(owner);
  for (const rdata of canonicalRdatas(type, rdatas)) {
    const fields = Buffer.allocUnsafe(10);
    fields.writeUInt16BE(type, 0);
    fields.writeUInt16BE(CLASS.IN, 2);
    fields.writeUInt32BE(ttl, 4);
    fields.writeUInt16BE(rdata.length, 8);
    parts.push(name, fields, rdata);
  }
  return Buffer.concat(parts);
}

const INTEGER_BYTES = 32;

/**
 * Converts OpenSSL's DER to the concatenated two numbers of a signature in DNS (RFC 6605 §4). Node.js's own conversion
 * takes as long as signing.
 */
function plainSignature(der: Uint8Array): Buffer {
  const out = Buffer.alloc(2 * INTEGER_BYTES);
  // The heads of SEQUENCE and INTEGER have two bytes each, because all lengths are below 128.
  let at = 2;
  for (const end of [INTEGER_BYTES, 2 * INTEGER_BYTES]) {
    const length = der[at + 1] as number;
    const bytes = der.subarray(at + 2, at + 2 + length);
    // DER adds a zero to keep the number positive, and omits leading zeros.
    const number = length > INTEGER_BYTES ? bytes.subarray(length - INTEGER_BYTES) : bytes;
    out.set(number, end - number.length);
    at += 2 + length;
  }
  return out;
}
