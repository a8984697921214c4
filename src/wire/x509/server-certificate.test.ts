import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { derParts } from "./der.ts";
import { exportPrivateKey, generateKeyPair, importPrivateKey, SIGNING_ALGORITHM } from "./key-pair.ts";
import { loadX509 } from "./library.ts";
import { selfSignedRoot } from "./self-signed.ts";
import { openIssuer, serverCertificate } from "./server-certificate.ts";

const x509 = await loadX509();
const rootKeys = await generateKeyPair();
const rootKey = await exportPrivateKey(rootKeys.privateKey);
const valid = { notBefore: new Date("2026-11-22T10:00:00Z"), notAfter: new Date("2027-02-20T10:00:00Z") };
const serialNumber = Buffer.from("4f0000000000000000000000000000ff", "hex");
const ourRoot = selfSignedRoot({ commonName: "a root", organization: "Selvedge", serialNumber: Buffer.of(7), ...valid, keys: rootKeys });
const { publicKey } = await generateKeyPair();

/** The library chooses PrintableString for a common name; ours are UTF8String, as RFC 5280 §4.1.2.4 would have them. */
const inUtf8 = (hex: string | undefined): string | undefined => hex?.replace("060355040313", "06035504030c");

/** As the library writes it. */
async function byLibrary(root: string, hosts: readonly string[], commonName: string | null): Promise<Buffer> {
  const issuer = new x509.X509Certificate(root);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber.toString("hex"),
    ...(commonName === null ? {} : { subject: [{ CN: [commonName] }] }),
    issuer: issuer.subjectName,
    ...valid,
    signingAlgorithm: SIGNING_ALGORITHM,
    publicKey,
    signingKey: await importPrivateKey(rootKey),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: "dns" as const, value })),
        commonName === null,
      ),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return Buffer.from(certificate.rawData);
}

const long = Array.from(
  { length: 100 },
  (_, i) => `${`${i}`.padStart(60, "a")}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(60)}.example`,
);
const CASES: readonly (readonly [string, readonly string[], string | null])[] = [
  ["a name and a wildcard", ["example.com", "*.example.com"], "example.com"],
  ["no common name", [`${"a".repeat(60)}.example.com`], null],
  ["a hundred of the longest names", long, null],
];

for (const [what, hosts, commonName] of CASES) {
  test(`the signed bytes equal the library's: ${what}`, async () => {
    const issuer = openIssuer(ourRoot, rootKey);
    const text = serverCertificate({ hosts, commonName, serialNumber, ...valid, publicKey }, issuer);
    const leaf = new X509Certificate(text);
    const [body] = derParts(leaf.raw, 1);
    const [expected] = derParts(await byLibrary(ourRoot, hosts, commonName), 1);
    assert.equal(body?.toString("hex"), inUtf8(expected?.toString("hex")));
    assert.equal(leaf.verify(new X509Certificate(ourRoot).publicKey), true);
  });
}

test("a certificate has the name of the operator's authority as its issuer", async () => {
  const names = [{ C: ["DE"] }, { O: ["Größe GmbH"] }, { CN: ["inner root"] }];
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ serialNumber: "01", name: names, ...valid, signingAlgorithm: SIGNING_ALGORITHM, keys: rootKeys },
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  const text = serverCertificate(
    { hosts: ["example.com"], commonName: "example.com", serialNumber, ...valid, publicKey },
    openIssuer(root.toString("pem"), rootKey),
  );
  assert.equal(new X509Certificate(text).checkIssued(new X509Certificate(root.toString("pem"))), true);
});

test("a key of another type cannot open an authority", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  assert.throws(() => openIssuer(ourRoot, privateKey.export({ type: "pkcs8", format: "pem" }).toString()), TypeError);
  assert.throws(() => openIssuer("", createPrivateKey(rootKey).export({ type: "pkcs8", format: "pem" }).toString()));
});

test("elements that end outside of their container are refused", () => {
  assert.deepEqual(
    derParts(Buffer.from("3006020101020102", "hex"), 9).map((part) => part.toString("hex")),
    ["020101", "020102"],
  );
  for (const hex of ["3003020401", "30800000", "3083010000"]) assert.throws(() => derParts(Buffer.from(hex, "hex"), 9), RangeError, hex);
});
