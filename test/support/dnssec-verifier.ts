import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { signedLabels } from "#wire/dns/canonical.ts";
import { keyTag } from "#wire/dns/dnssec-key.ts";
import { type NameKey, isWithin, keyOf, nameOfKey } from "#wire/dns/name.ts";
import { signedBytes } from "#wire/dns/rrsig.ts";
import { WireReader } from "#wire/dns/wire-reader.ts";

/** A set as a validator has it from a response. */
export interface ReceivedSet {
  readonly owner: NameKey;
  readonly type: number;
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
}

/** An RRSIG's RDATA, read field by field (RFC 4034 §3.1). */
export function readRrsig(rdata: Uint8Array) {
  const reader = new WireReader(rdata, { pointers: false });
  const head = { type: reader.u16(), algorithm: reader.u8(), labels: reader.u8(), ttl: reader.u32() };
  const times = { expiration: reader.u32(), inception: reader.u32(), tag: reader.u16() };
  const signer = reader.name();
  return { ...head, ...times, signer, head: rdata.subarray(0, reader.offset), signature: reader.rest() };
}

/** Asserts a signature by the rules of RFC 4035 §5.3. Throws AssertionError if it is not valid. */
export function assertSigned(set: ReceivedSet, rrsig: Uint8Array, keys: readonly Uint8Array[], nowSeconds: number): void {
  const { type, algorithm, labels, ttl, expiration, inception, tag, signer, head, signature } = readRrsig(rrsig);
  assert.equal(type, set.type);
  assert.equal(algorithm, 13);
  assert.ok(inception <= nowSeconds && nowSeconds <= expiration, `valid from ${inception} to ${expiration}, not at ${nowSeconds}`);
  assert.ok(isWithin(set.owner, keyOf(signer)), "the signer is the zone of the owner");
  assert.ok(set.ttl <= ttl, `TTL ${set.ttl} of at most ${ttl}`);
  const dnskey = keys.find((key) => keyTag(key) === tag);
  assert.ok(dnskey, `no key with tag ${tag}`);
  const point = Buffer.from(dnskey.subarray(4));
  const coordinate = (from: number): string => point.subarray(from, from + 32).toString("base64url");
  const key = createPublicKey({ key: { kty: "EC", crv: "P-256", x: coordinate(0), y: coordinate(32) }, format: "jwk" });
  const signed = signedBytes(head, { ...set, ttl, owner: signedOwner(set.owner, labels) });
  assert.ok(verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, signature), "the signature does not hold");
}

/** RFC 4035 §5.3.2: with fewer labels than the owner has, a wildcard was signed. */
function signedOwner(owner: NameKey, labels: number): NameKey {
  const surplus = signedLabels(owner) - labels;
  assert.ok(surplus >= 0, "more labels signed than there are");
  let name = owner;
  for (let i = 0; i < surplus; i++) name = name.slice(name.charCodeAt(0) + 1);
  return surplus === 0 ? owner : keyOf(Buffer.concat([Buffer.from("\u0001*", "latin1"), nameOfKey(name)]));
}
