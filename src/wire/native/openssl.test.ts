import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { PLAIN_OPTIONS, selfSigned } from "#wire/connections/testing/secure.ts";
import { socketCalls } from "#wire/connections/testing/transports.ts";
import { loadOpenSsl } from "./openssl.ts";

const skip = (socketCalls?.secure ?? null) === null;

test("a context requires a certificate and its key", { skip }, async () => {
  const { createContext, freeContext } = socketCalls!.secure!.openSsl;
  const [one, other] = [await selfSigned(), await selfSigned()];
  const { privateKey: locked } = generateKeyPairSync("ec", {
    namedCurve: "prime256v1",
    privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const made = (change: Partial<Parameters<typeof createContext>[0]>): boolean => {
    const context = createContext({ ...PLAIN_OPTIONS, ...one, ...change });
    if (context !== null) freeContext(context);
    return context !== null;
  };
  assert.deepEqual([made({}), made({ chain: `${one.chain}\n${other.chain}` })], [true, true]);
  assert.equal(made({ privateKey: other.privateKey }), false, "the key of another");
  // A password is never requested.
  assert.equal(made({ privateKey: Buffer.from(locked) }), false, "a key with a password");
  for (const bad of ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "\0"]) {
    assert.equal(made({ chain: bad }), false, JSON.stringify(bad));
    assert.equal(made({ privateKey: Buffer.from(bad) }), false, JSON.stringify(bad));
  }
  assert.equal(made({ ciphers: ["TLS_AES_128_GCM_SHA256", "NO_SUCH_SUITE"] }), false);
});

test("an OpenSSL with another version than Node.js reports is not used", { skip }, async () => {
  const { default: koffi } = await import("koffi");
  const withVersion = (version: string): typeof koffi => {
    const load = (path: string | null): unknown => {
      const node = koffi.load(path);
      const func = (declaration: string): unknown => (declaration.includes("OpenSSL_version") ? () => version : node.func(declaration));
      return { func, symbol: node.symbol.bind(node) };
    };
    return { ...koffi, load } as unknown as typeof koffi;
  };
  const raw = Buffer.allocUnsafeSlow(64);
  const place = { raw, at: Number(koffi.address(raw)) };
  for (const version of ["4.0.0", "3.0.0", ""]) assert.throws(() => loadOpenSsl(withVersion(version), place), /OpenSSL is/);
  assert.doesNotThrow(() => loadOpenSsl(withVersion(process.versions.openssl), place));
});
