import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import tls from "node:tls";
import { promisify } from "node:util";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";

const run = promisify(execFile);

test("openssl accepts a leaf under its root and refuses it under another", async () => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-ca-"));
  try {
    const [root, other] = await Promise.all([createRoot(systemClock), createRoot(systemClock)]);
    const leaf = await createLocalCa({ root, clock: systemClock }).issue(["example.com", "*.example.com"]);
    await writeFile(join(directory, "root.pem"), root.certificate);
    await writeFile(join(directory, "other.pem"), other.certificate);
    await writeFile(join(directory, "leaf.pem"), leaf.chain);
    const verify = (ca: string) =>
      run("openssl", [
        "verify",
        "-x509_strict",
        "-purpose",
        "sslserver",
        "-verify_hostname",
        "www.example.com",
        "-CAfile",
        join(directory, ca),
        join(directory, "leaf.pem"),
      ]);
    assert.match((await verify("root.pem")).stdout, /: OK/);
    await assert.rejects(verify("other.pem"));
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("a TLS client that trusts the root connects to a server with the leaf", async () => {
  const root = await createRoot(systemClock);
  const leaf = await createLocalCa({ root, clock: systemClock }).issue(["example.com", "*.example.com"]);
  const server = tls.createServer({ cert: leaf.chain, key: leaf.privateKey }, (socket) => socket.end("hello"));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const port = (server.address() as AddressInfo).port;
  const greet = (servername: string) =>
    new Promise<string>((resolve, reject) => {
      let text = "";
      const socket = tls.connect({ port, host: "127.0.0.1", servername, ca: root.certificate });
      socket.on("data", (bytes) => (text += bytes.toString()));
      socket.on("end", () => resolve(text));
      socket.on("error", reject);
    });
  try {
    assert.equal(await greet("example.com"), "hello");
    assert.equal(await greet("a.example.com"), "hello");
    await assert.rejects(greet("example.org"), /altnames/);
  } finally {
    server.close();
  }
});

test("certificates have the requested lengths, names and uses", async () => {
  const clock = fixedClock("2026-03-01T12:00:00Z");
  const root = await createRoot(clock);
  const rootCertificate = new X509Certificate(root.certificate);
  assert.equal(rootCertificate.ca, true);
  assert.equal(rootCertificate.validToDate.toISOString(), "2036-03-01T11:00:00.000Z");
  const issued = await createLocalCa({ root, clock }).issue(["example.com", "*.example.com"]);
  const leaf = new X509Certificate(issued.chain);
  assert.equal(issued.notBefore, "2026-03-01T11:00:00.000000Z");
  assert.equal(issued.notAfter, "2026-05-30T11:00:00.000000Z");
  assert.equal(leaf.validFromDate.toISOString(), "2026-03-01T11:00:00.000Z");
  assert.equal(leaf.ca, false);
  assert.equal(leaf.subject, "CN=example.com");
  assert.equal(leaf.subjectAltName, "DNS:example.com, DNS:*.example.com");
  assert.deepEqual(leaf.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
  assert.equal(leaf.checkIssued(rootCertificate), true);
  assert.equal(leaf.checkPrivateKey(createPrivateKey(issued.privateKey)), true);
  assert.equal(leaf.publicKey.asymmetricKeyDetails?.namedCurve, "prime256v1");
});

test("a host too long for a common name is only in the alternative names", async () => {
  const host = `${"a".repeat(60)}.example.com`;
  const root = await createRoot(systemClock);
  const leaf = new X509Certificate((await createLocalCa({ root, clock: systemClock }).issue([host])).chain);
  assert.equal(leaf.subject ?? "", "");
  assert.equal(leaf.checkHost(host), host);
});

test("two certificates never share a serial number or a key", async () => {
  const root = await createRoot(systemClock);
  const ca = createLocalCa({ root, clock: systemClock });
  const [a, b] = await Promise.all([ca.issue(["example.com"]), ca.issue(["example.com"])]);
  assert.notEqual(new X509Certificate(a.chain).serialNumber, new X509Certificate(b.chain).serialNumber);
  assert.notEqual(a.privateKey, b.privateKey);
});

test("invalid host names are refused", async () => {
  const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
  for (const host of [
    "",
    "a b.example.com",
    "*",
    "a.*.example.com",
    "-a.example.com",
    "example.com.",
    "EXAMPLE.com",
    `${"a".repeat(64)}.com`,
    "a\n.example.com",
  ]) {
    await assert.rejects(ca.issue([host]), TypeError, host);
  }
  await assert.rejects(ca.issue([]), TypeError);
});
