import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { assertSigned, readRrsig } from "../../../test/support/dnssec-verifier.ts";
import { rdataOf } from "../../../test/support/rdata.ts";
import { canonicalRdata } from "./canonical.ts";
import { dnskeyRdata, keyTag } from "./dnssec-key.ts";
import { keyOf, parseAbsoluteName } from "./name.ts";
import { RECORD_TYPES, encodeContent, typeCode } from "./record-types.ts";
import { rrsigRdata } from "./rrsig.ts";

const rdata = (type: string, content: string): Buffer => Buffer.from(encodeContent(type, content, { origin: ".", style: "master" }));

test("RFC 6605 §6.1: the example's signature is valid, and invalid after any change", () => {
  const point = "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==";
  const keys = [rdata("DNSKEY", `257 3 13 ${point}`)];
  const signature = "qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw==";
  const rrsig = rdata("RRSIG", `A 13 3 3600 20100909100439 20100812100439 55648 example.net. ${signature}`);
  const set = { owner: keyOf(parseAbsoluteName("www.example.net")), type: 1, ttl: 3600, rdatas: [rdata("A", "192.0.2.1")] };
  const now = Date.parse("2010-08-20T00:00:00Z") / 1000;
  assertSigned(set, rrsig, keys, now);
  assert.throws(() => assertSigned({ ...set, rdatas: [rdata("A", "192.0.2.2")] }, rrsig, keys, now), /does not hold/);
  assert.throws(() => assertSigned({ ...set, owner: keyOf(parseAbsoluteName("ww.example.net")) }, rrsig, keys, now), /does not hold/);
  assert.throws(() => assertSigned(set, rrsig, keys, now + 365 * 86_400), /valid from/);
});

test("property: any signed set verifies, in any order of its records and in any letter case", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = publicKey.export({ format: "jwk" });
  const key = dnskeyRdata(Buffer.concat([Buffer.from(x as string, "base64url"), Buffer.from(y as string, "base64url")]));
  const signer = parseAbsoluteName("Example.COM");
  const signing = { signer, tag: keyTag(key), privateKey };
  const sets = fc.constantFrom(...Object.keys(RECORD_TYPES)).chain((type) =>
    fc.record({
      type: fc.constant(typeCode(type) as number),
      rdatas: fc.array(rdataOf(type), { minLength: 1, maxLength: 4 }),
      owner: fc
        .constantFrom("example.com", "a.example.com", "*.example.com", "b.*.example.com")
        .map((name) => keyOf(parseAbsoluteName(name))),
    }),
  );
  fc.assert(
    fc.property(sets, ({ type, rdatas, owner }) => {
      const rrsig = rrsigRdata({ owner, type, ttl: 600, rdatas }, signing, { inception: 1000, expiration: 2000 });
      assert.equal(rrsig.length, 18 + signer.length + 64);
      assertSigned({ owner, type, ttl: 300, rdatas: rdatas.toReversed().map((one) => canonicalRdata(type, one)) }, rrsig, [key], 1500);
      const expanded = keyOf(parseAbsoluteName("x.y.example.com"));
      if (owner.startsWith("\u0001*")) assertSigned({ owner: expanded, type, ttl: 0, rdatas: [...rdatas, ...rdatas] }, rrsig, [key], 1500);
    }),
    { numRuns: 400 },
  );
});

test("RRSIG times wrap like serial numbers", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const set = { owner: "\0", type: 16, ttl: 0, rdatas: [rdata("TXT", '"x"')] };
  const validity = { inception: 2 ** 32 - 10, expiration: 2 ** 32 + 10 };
  const { inception, expiration } = readRrsig(rrsigRdata(set, { signer: Buffer.of(0), tag: 0, privateKey }, validity));
  assert.deepEqual([inception, expiration], [2 ** 32 - 10, 10]);
});
