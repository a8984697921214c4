import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { der } from "./der.ts";
import { generateKeyPair } from "./key-pair.ts";
import { loadX509 } from "./library.ts";
import { selfSignedRoot } from "./self-signed.ts";

const x509 = await loadX509();
const keys = await generateKeyPair();
const root = (changes: Partial<Parameters<typeof selfSignedRoot>[0]> = {}): string =>
  selfSignedRoot({
    commonName: "Selvedge local CA 0123abcd",
    organization: "Selvedge",
    serialNumber: Buffer.from("4f0000000000000000000000000000ff", "hex"),
    notBefore: new Date("2026-11-22T10:00:00Z"),
    notAfter: new Date("2036-11-22T10:00:00Z"),
    keys,
    ...changes,
  });

test("a root has the requested content, in the encoding that certificate parsers expect", async () => {
  const text = root();
  const certificate = new X509Certificate(text);
  assert.deepEqual([certificate.subject, certificate.issuer], Array(2).fill("CN=Selvedge local CA 0123abcd\nO=Selvedge"));
  assert.equal(certificate.serialNumber, "4F0000000000000000000000000000FF");
  assert.equal(certificate.validFromDate.toISOString(), "2026-11-22T10:00:00.000Z");
  assert.equal(certificate.validToDate.toISOString(), "2036-11-22T10:00:00.000Z");
  assert.deepEqual([certificate.ca, certificate.checkIssued(certificate), certificate.verify(certificate.publicKey)], [true, true, true]);
  const read = new x509.X509Certificate(text);
  assert.deepEqual(
    Array.from(read.extensions, ({ type, critical }) => [type, critical]),
    [
      ["2.5.29.19", true],
      ["2.5.29.15", true],
      ["2.5.29.14", false],
    ],
  );
  assert.deepEqual(
    [read.getExtension(x509.BasicConstraintsExtension)?.pathLength, read.getExtension(x509.KeyUsagesExtension)?.usages],
    [0, x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign],
  );
  const expected = await x509.SubjectKeyIdentifierExtension.create(keys.publicKey);
  assert.equal(read.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId, expected.keyId);
});

test("dates from 2050 on and serial numbers with a high first bit keep their values", () => {
  const { validToDate, serialNumber } = new X509Certificate(
    root({ notAfter: new Date("2051-02-03T04:05:06Z"), serialNumber: Buffer.from("00ff01", "hex") }),
  );
  assert.deepEqual([validToDate.toISOString(), serialNumber], ["2051-02-03T04:05:06.000Z", "FF01"]);
});

test("lengths use the minimum number of bytes", () => {
  const head = (length: number): string => der.octets(Buffer.alloc(length)).subarray(0, -length).toString("hex");
  assert.deepEqual([127, 128, 255, 256, 65_535].map(head), ["047f", "048180", "0481ff", "04820100", "0482ffff"]);
  assert.throws(() => der.octets(Buffer.alloc(65_536)), RangeError);
  assert.equal(der.integer(Buffer.of(0, 0)).toString("hex"), "020100");
});
