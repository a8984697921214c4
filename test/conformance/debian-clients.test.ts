import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { runClient } from "../support/client.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

test(
  "python3-cloudflare manages zones, records, DNSSEC, transfers and name servers at the API date it was written for",
  {
    skip: toolOrSkip("python3-cloudflare"),
  },
  async (t) => {
    const selvedge = await startSelvedge({ args: ["--deprecations-as-of", "2024-09-12"] });
    t.after(() => selvedge.stop());
    const { api, token = "", account_id } = selvedge.ready;
    const script = join(import.meta.dirname, "python-cloudflare.py");
    // Debian's own Python: another one in PATH does not see Debian's packages.
    const seen = JSON.parse(await runClient("/usr/bin/python3", [script, api, token, account_id])) as unknown;
    assert.deepEqual(seen, {
      zones: ["python.test"],
      created: ["www.python.test", "192.0.2.1"],
      listed: [["192.0.2.3", 120]],
      refused: 1004,
      dnssec: ["pending", 257],
      transfers: "Disabled",
      custom_ns: ["ns1.python.test"],
      use_apex_ns: true,
      deleted: true,
    });
  },
);

const skip = ["ddclient", "openssl", "dig"].map(toolOrSkip).find((reason) => reason !== false) ?? false;

test("ddclient updates a record over HTTPS, and the nameserver answers with the new address", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-clients-"));
  const running: Selvedge[] = [];
  t.after(async () => {
    for (const server of running) await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const dataDir = join(directory, "data");
  const plain = await startSelvedge({ dataDir });
  const { token = "", account_id } = plain.ready;
  const call = apiCaller(plain.ready);
  const zone = await succeed(call("POST", "/zones", { name: "dyn.test", account: { id: account_id } }));
  await succeed(call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "home", content: "192.0.2.1", ttl: 60 }));
  await plain.stop();

  // The client speaks nothing but HTTPS, and looks at the certificate.
  const [certificate, key] = [join(directory, "tls.pem"), join(directory, "tls.key")];
  await runClient("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=selvedge"],
    ...["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
  ]);
  const selvedge = await startSelvedge({ dataDir, args: ["--tls-certificate", certificate, "--tls-key", key] });
  running.push(selvedge);
  const apiPort = new URL(selvedge.ready.api).port;
  const configuration = join(directory, "ddclient.conf");
  writeFileSync(
    configuration,
    [
      "ssl=yes",
      `ssl_ca_file=${certificate}`,
      "timeout=60",
      `protocol=cloudflare, use=ip, ip=192.0.2.77, server=127.0.0.1:${apiPort}/client/v4, zone=dyn.test, login=token, password=${token} home.dyn.test`,
      "",
    ].join("\n"),
    { mode: 0o600 },
  );
  const printed = await runClient("ddclient", [
    "-file",
    configuration,
    "-cache",
    join(directory, "ddclient.cache"),
    "-daemon=0",
    "-noquiet",
  ]);
  assert.match(printed, /SUCCESS:\s+.*home\.dyn\.test.*192\.0\.2\.77/);
  const [address = "", port = ""] = selvedge.ready.dns.split(":");
  assert.equal((await runClient("dig", [`@${address}`, "-p", port, "home.dyn.test", "A", "+short"])).trim(), "192.0.2.77");
});
