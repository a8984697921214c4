import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connect } from "node:tls";
import { freePort } from "../bench/program.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually, readUntil } from "../support/eventually.ts";
import { startPebble } from "../support/pebble.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = ["pebble", "openssl"].map(toolOrSkip).find((reason) => reason !== false) ?? false;

/** A server whose certificates come from pebble, which asks its nameserver and its edge. */
async function startOrdering(t: TestContext) {
  const [dnsPort, httpPort] = [await freePort(), await freePort()];
  const pebble = await startPebble({ dns: `127.0.0.1:${dnsPort}`, httpPort, nonceReject: 5 });
  t.after(() => pebble.stop());
  const args = [
    ...["--dns-port", String(dnsPort), "--dns-scan-resolvers", `127.0.0.1:${dnsPort}`, "--http-port", String(httpPort)],
    ...["--certificate-directory", `lets_encrypt=${pebble.directoryUrl}`, "--certificates-roots", pebble.rootsPath],
    ...["--certificates-authorities", "lets_encrypt,local", "--certificates-zone-authorities", "lets_encrypt,local"],
  ];
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-orders-"));
  let server = await startSelvedge({ args, dataDir });
  const first = server.ready;
  t.after(async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const restart = async (): Promise<void> => {
    await server.kill();
    server = await startSelvedge({ args, dataDir });
  };
  const call: Caller = (...request) => apiCaller({ ...server.ready, token: first.token ?? "" })(...request);
  const addZone = (name: string) => succeed(call("POST", "/zones", { name, account: { id: first.account_id } }));
  return { call, addZone, restart, https: () => server.ready.https };
}

type Caller = ReturnType<typeof apiCaller>;

/** Issuer of the certificate that the edge uses for the name. */
const issuerAt = (https: string, servername: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(https);
    const socket = connect({ host: hostname, port: Number(port), servername, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().issuer.CN));
      socket.destroy();
    });
    // Planes serve a certificate that a job deployed some milliseconds after the API shows it; until then the edge refuses the name.
    socket.on("error", (error) => (/unrecognized name/.test(error.message) ? resolve("none yet") : reject(error)));
  });

test("SPEC 2.7, SPEC 3.2: a power cut does not stop orders by HTTP, TXT record and alias, nor refusals by CAA", { skip }, async (t) => {
  const { call, addZone, restart, https } = await startOrdering(t);
  const service = await addZone("service.test");
  for (const name of ["service.test", "www.service.test"])
    await eventually(async () => (await issuerAt(https(), name)).startsWith("Pebble"), 200);
  assert.deepEqual(await succeed(call("GET", `/zones/${service.id}/dns_records`)), [], "the proofs are no records of the owner's");
  const [pack, ...others] = await succeed(call("GET", `/zones/${service.id}/ssl/certificate_packs?status=all`));
  assert.deepEqual(
    [others, pack.status, pack.certificate_authority, pack.hosts, pack.certificates[0].signature],
    [[], "active", "lets_encrypt", ["service.test", "*.service.test"], "SHA256WithRSA"],
  );
  assert.equal((await succeed(call("GET", `/zones/${service.id}/ssl/verification`)))[0].certificate_status, "active");

  const customer = await addZone("customer.test");
  const record = (zone: { id: string }, body: object) => succeed(call("POST", `/zones/${zone.id}/dns_records`, { ttl: 60, ...body }));
  await record(service, { type: "A", name: "origin", content: "127.0.0.1", proxied: true });
  await succeed(call("PUT", `/zones/${service.id}/custom_hostnames/fallback_origin`, { origin: "origin.service.test" }));
  const path = `/zones/${service.id}/custom_hostnames`;
  const add = (hostname: string, ssl: object) => succeed(call("POST", path, { hostname, ssl: { type: "dv", ...ssl } }));
  const get = (id: string) => succeed(call("GET", `${path}/${id}`));
  const point = (name: string) => record(customer, { type: "CNAME", name, content: "origin.service.test" });
  /** A busy machine answers before the authority does. */
  const shownFrom =
    ({ id }: { id: string }) =>
    () =>
      get(id);
  const activeFrom = async (id: string, name: string): Promise<void> => {
    await eventually(async () => (await get(id)).ssl.status === "active", 200);
    // The certificate is shown from when the hostname serves the name.
    await eventually(async () => (await get(id)).status === "active", 200);
    await eventually(async () => (await issuerAt(https(), name)).startsWith("Pebble"), 200);
  };

  const waiting = await readUntil(
    shownFrom(await add("page.customer.test", { method: "http" })),
    ({ ssl }) => ssl.validation_records?.length === 1,
  );
  assert.deepEqual([waiting.status, waiting.ssl.status], ["pending", "pending_validation"]);
  assert.match(waiting.ssl.validation_records[0].http_url, /^http:\/\/page\.customer\.test\/\.well-known\/acme-challenge\/[\w-]+$/);
  await restart();
  await point("page");
  await activeFrom(waiting.id, "page.customer.test");
  const issued = await get(waiting.id);
  assert.deepEqual(
    [issued.ssl.issuer, issued.ssl.hosts, issued.ssl.validation_records],
    ["lets_encrypt", ["page.customer.test"], undefined],
  );

  await point("wild");
  const wild = await add("wild.customer.test", { method: "http", wildcard: true });
  await activeFrom(wild.id, "wild.customer.test");
  // Names below it are those of the customer's own zone, which serves them (SPEC 7, error 1016).
  assert.deepEqual((await get(wild.id)).ssl.hosts, ["wild.customer.test", "*.wild.customer.test"]);

  await record(customer, { type: "CAA", name: "closed", data: { flags: 0, tag: "issue", value: "ca.example" } });
  const closed = await readUntil(
    shownFrom(await add("closed.customer.test", { method: "txt", certificate_authority: "lets_encrypt" })),
    ({ status }) => status === "caa_error",
  );
  assert.deepEqual([closed.status, closed.ssl.status], ["caa_error", "pending_issuance"]);
  assert.match(closed.ssl.validation_errors[0].message, /^caa_error: CAA records of closed\.customer\.test do not let lets_encrypt issue/);

  // The name leads elsewhere yet, and proves itself through an alias into the service's zone.
  await record(customer, { type: "CNAME", name: "_acme-challenge.alias", content: "alias.dcv.service.test" });
  const alias = await readUntil(
    shownFrom(await add("alias.customer.test", { method: "txt" })),
    ({ ssl }) => ssl.dcv_delegation_records !== undefined,
  );
  assert.equal(alias.status, "pending");
  assert.deepEqual(alias.ssl.dcv_delegation_records, [
    { cname: "_acme-challenge.alias.customer.test", cname_target: `${alias.id}.dcv.service.test` },
  ]);
  await eventually(async () => (await get(alias.id)).ssl.status === "active", 200);
  assert.equal((await get(alias.id)).status, "pending");
  await point("alias");
  await activeFrom(alias.id, "alias.customer.test");
});
