import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { runClient } from "../support/client.ts";
import { startPebble } from "../support/pebble.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = ["certbot", "certbot-dns-cloudflare", "pebble", "openssl"].map(toolOrSkip).find((reason) => reason !== false) ?? false;

/** The challenge is looked for at once: an acknowledged record is served. */
const PROPAGATION_SECONDS = "0";

test("certbot gets a certificate with a wildcard from an authority that resolves names through our nameserver", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-certbot-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const { token = "", account_id, api, dns } = selvedge.ready;
  const call = apiCaller(selvedge.ready);
  const zone = await succeed(call("POST", "/zones", { name: "certbot.test", account: { id: account_id } }));
  // No nonce is refused: certbot retries once, and would sometimes be refused twice.
  const { directoryUrl, rootsPath, stop } = await startPebble({ dns });
  t.after(stop);

  const credentials = join(directory, "credentials.ini");
  writeFileSync(credentials, `dns_cloudflare_api_token = ${token}\n`, { mode: 0o600 });
  await runClient(
    "certbot",
    [
      ...["certonly", "--non-interactive", "--agree-tos", "--register-unsafely-without-email", "--server", directoryUrl],
      ...["--dns-cloudflare", "--dns-cloudflare-credentials", credentials],
      ...["--dns-cloudflare-propagation-seconds", PROPAGATION_SECONDS],
      ...["config", "work", "logs"].flatMap((name) => [`--${name}-dir`, join(directory, name)]),
      ...["-d", "certbot.test", "-d", "*.certbot.test"],
    ],
    { CLOUDFLARE_API_URL: api, REQUESTS_CA_BUNDLE: rootsPath, HOME: directory },
  );

  const issued = new X509Certificate(readFileSync(join(directory, "config/live/certbot.test/cert.pem")));
  assert.deepEqual(issued.subjectAltName?.split(", ").sort(), ["DNS:*.certbot.test", "DNS:certbot.test"]);
  assert.deepEqual(await succeed(call("GET", `/zones/${zone.id}/dns_records`)), [], "the challenges were taken back");
  const history = await succeed(call("GET", `/zones/${zone.id}/dns_versions`));
  assert.equal(history.length, 4, "two challenges came and went, since both names are proved at one name");
});
