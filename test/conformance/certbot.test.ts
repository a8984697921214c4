import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freePort, startTool } from "../bench/program.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { runClient } from "../support/client.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = ["certbot", "certbot-dns-cloudflare", "pebble", "openssl"].map(toolOrSkip).find((reason) => reason !== false) ?? false;

/** The challenge is looked for at once: an acknowledged record is served. */
const PROPAGATION_SECONDS = "0";

test("certbot gets a certificate, wildcard included, from an authority that resolves through us", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-certbot-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const { token = "", account_id, api, dns } = selvedge.ready;
  const call = apiCaller(selvedge.ready);
  const zone = await succeed(call("POST", "/zones", { name: "certbot.test", account: { id: account_id } }));
  const { directoryUrl, certificate } = await startAuthority(directory, dns, t.after.bind(t));

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
    { CLOUDFLARE_API_URL: api, REQUESTS_CA_BUNDLE: certificate, HOME: directory },
  );

  const issued = new X509Certificate(readFileSync(join(directory, "config/live/certbot.test/cert.pem")));
  assert.deepEqual(issued.subjectAltName?.split(", ").sort(), ["DNS:*.certbot.test", "DNS:certbot.test"]);
  assert.deepEqual(await succeed(call("GET", `/zones/${zone.id}/dns_records`)), [], "the challenges were taken back");
  const history = await succeed(call("GET", `/zones/${zone.id}/dns_versions`));
  assert.equal(history.length, 4, "two challenges came and went, since both names are proved at one name");
});

/** An authority of one's own whose validation asks the nameserver `dns` directly. */
async function startAuthority(directory: string, dns: string, onEnd: (work: () => Promise<void>) => void) {
  const [port, managementPort] = [await freePort(), await freePort()];
  const [certificate, privateKey] = [join(directory, "authority.pem"), join(directory, "authority.key")];
  await runClient("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=authority"],
    ...["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", privateKey, "-out", certificate],
  ]);
  const configuration = join(directory, "authority.json");
  const listenAddress = `127.0.0.1:${port}`;
  const pebble = { listenAddress, managementListenAddress: `127.0.0.1:${managementPort}`, certificate, privateKey };
  writeFileSync(configuration, JSON.stringify({ pebble }));
  const probe = async (): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.destroy();
  };
  // Without the settings it waits for seconds before each validation, as authorities with many servers do, and refuses one
  // nonce in twenty: clients try again once, and are sometimes refused twice.
  const settings = { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0" };
  const server = await startTool("pebble", ["-config", configuration, "-dnsserver", dns], probe, settings);
  onEnd(() => server.stop());
  return { directoryUrl: `https://${listenAddress}/dir`, certificate };
}
