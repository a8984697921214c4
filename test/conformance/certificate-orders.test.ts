import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "node:tls";
import { freePort } from "../bench/program.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { startPebble } from "../support/pebble.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = ["pebble", "openssl"].map(toolOrSkip).find((reason) => reason !== false) ?? false;

/** Who issued the certificate that the edge shows for the name. */
const issuerAt = (https: string, servername: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(https);
    const socket = connect({ host: hostname, port: Number(port), servername, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().issuer.CN));
      socket.destroy();
    });
    socket.on("error", reject);
  });

test("a zone's own certificate, wildcard included, comes from an authority that resolves through our nameserver", { skip }, async (t) => {
  const dnsPort = await freePort();
  const pebble = await startPebble({ dns: `127.0.0.1:${dnsPort}`, nonceReject: 5 });
  t.after(() => pebble.stop());
  const selvedge = await startSelvedge({
    args: [
      ...["--dns-port", String(dnsPort), "--dns-scan-resolvers", `127.0.0.1:${dnsPort}`],
      ...["--certificates-zone-authorities", "lets_encrypt,local"],
      ...["--certificate-directory", `lets_encrypt=${pebble.directoryUrl}`, "--certificates-roots", pebble.rootsPath],
    ],
  });
  t.after(() => selvedge.stop());
  const call = apiCaller(selvedge.ready);
  const zone = await succeed(call("POST", "/zones", { name: "ordered.example", account: { id: selvedge.ready.account_id } }));
  for (const name of ["ordered.example", "www.ordered.example"])
    await eventually(async () => (await issuerAt(selvedge.ready.https, name)).startsWith("Pebble"), 200);
  assert.deepEqual(await succeed(call("GET", `/zones/${zone.id}/dns_records`)), [], "the proofs are no records of the owner's");
});
