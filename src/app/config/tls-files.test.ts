import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { readTls } from "./tls-files.ts";

test("the certificate and key are read, and an error names the file's key", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-tls-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const put = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
  const [one, other] = [await ca.issue(["one.example"]), await ca.issue(["other.example"])];
  const certificate = put("chain.pem", one.chain);
  const key = put("key.pem", one.privateKey);
  assert.deepEqual(readTls({ certificate: "", key: "" }), {});
  assert.deepEqual(readTls({ certificate, key }), { tls: { certificate: one.chain, key: one.privateKey } });
  const missing = join(directory, "missing.pem");
  const noise = put("noise.pem", "no PEM");
  const wrong = (files: { certificate: string; key: string }, message: RegExp): void => assert.throws(() => readTls(files), { message });
  wrong({ certificate: missing, key }, /^tls\.certificate: cannot read .*missing\.pem: ENOENT/);
  wrong({ certificate: noise, key }, /^tls\.certificate: .*noise\.pem has no certificate in PEM form$/);
  wrong({ certificate, key: noise }, /^tls\.key: .*noise\.pem has no private key in PEM form$/);
  wrong(
    { certificate, key: put("other.pem", other.privateKey) },
    /^tls\.key: .*other\.pem does not belong to the certificate in .*chain\.pem$/,
  );
});
