import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { connect, type PeerCertificate } from "node:tls";
import { freePort } from "../bench/program.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually, readUntil } from "../support/eventually.ts";
import { startPebble } from "../support/pebble.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = ["pebble", "openssl"].map(toolOrSkip).find((reason) => reason !== false) ?? false;

async function startZone(t: TestContext, args: readonly string[]) {
  const server = await startSelvedge({ args });
  t.after(() => server.stop());
  const call = apiCaller(server.ready, server.ready.token ?? "");
  const { id } = await succeed(call("POST", "/zones", { name: "packs.test", account: { id: server.ready.account_id } }));
  await succeed(call("POST", `/zones/${id}/dns_records`, { type: "A", name: "a.deep", content: "127.0.0.1", proxied: true }));
  const packs = `/zones/${id}/ssl/certificate_packs`;
  const until = (pack: string, status: string): Promise<any> =>
    readUntil(
      () => succeed(call("GET", `${packs}/${pack}`)),
      (shown) => shown.status === status && (status !== "active" || shown.validation_errors === undefined),
      100,
    );
  return { call, packs, until, https: server.ready.https };
}

const certificateAt = (https: string, servername: string): Promise<PeerCertificate> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(https);
    const socket = connect({ host: hostname, port: Number(port), servername, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on("error", reject);
  });

test("a certificate for chosen names of the zone is ordered, presented, branded and deleted", async (t) => {
  const { call, packs, until, https } = await startZone(t, []);
  const order = (body: object) => call("POST", `${packs}/order`, { type: "advanced", validation_method: "txt", ...body });
  const made = await succeed(order({ hosts: ["a.deep.packs.test", "*.deep.packs.test"], certificate_authority: "", validity_days: 90 }));
  assert.deepEqual([made.type, made.hosts], ["advanced", ["a.deep.packs.test", "*.deep.packs.test"]]);
  const active = await until(made.id, "active");
  assert.deepEqual([active.certificates.length, active.primary_certificate, active.certificate_authority], [1, made.id, "local"]);
  await eventually(async () => (await certificateAt(https, "a.deep.packs.test")).subject.CN === "a.deep.packs.test", 50);
  assert.equal((await certificateAt(https, "b.deep.packs.test")).subject.CN, "a.deep.packs.test");

  assert.deepEqual(await succeed(call("GET", `${packs}/quota`)), { advanced: { allocated: 100, used: 1 } });
  assert.equal((await succeed(call("GET", packs))).length, 2, "with the universal one");
  // SPEC 2.7: the service's name becomes the Common Name.
  await succeed(call("PATCH", `${packs}/${made.id}`, { cloudflare_branding: true }));
  await eventually(async () => (await certificateAt(https, "a.deep.packs.test")).subject.CN === "sni.selvedge.internal", 50);
  assert.match((await certificateAt(https, "a.deep.packs.test")).subjectaltname ?? "", /DNS:a\.deep\.packs\.test/);

  const refused = async (body: object) => ((await order(body)).body as any).errors[0]?.code;
  const long = `${"a".repeat(40)}.${"b".repeat(40)}.packs.test`;
  for (const [code, body] of [
    [10400, { hosts: ["a.elsewhere.test"] }],
    [10400, { hosts: ["*.packs.test"], validation_method: "http" }],
    [10400, { hosts: ["packs.test"], validation_method: "email" }],
    [10400, { hosts: [] }],
    [1469, { hosts: [long] }],
    [1434, { hosts: ["packs.test"], svc_branding: "yes" }],
  ] as const)
    assert.equal(await refused(body), code, JSON.stringify(body));

  assert.deepEqual(await succeed(call("DELETE", `${packs}/${made.id}`)), { id: made.id });
  assert.equal((await call("GET", `${packs}/${made.id}`)).status, 404);
  await eventually(async () => {
    const shown = await certificateAt(https, "a.deep.packs.test").catch(() => null);
    return shown?.subject?.CN !== "sni.selvedge.internal";
  }, 50);
  assert.equal((await call("DELETE", `${packs}/${made.id}`)).status, 404);
});

test("an authority over ACME validates the names by TXT records that the nameserver shows", { skip }, async (t) => {
  const [dnsPort, httpPort] = [await freePort(), await freePort()];
  const pebble = await startPebble({ dns: `127.0.0.1:${dnsPort}`, httpPort });
  t.after(() => pebble.stop());
  const { call, packs, until, https } = await startZone(t, [
    ...["--dns-port", String(dnsPort), "--dns-scan-resolvers", `127.0.0.1:${dnsPort}`, "--http-port", String(httpPort)],
    ...["--certificate-directory", `lets_encrypt=${pebble.directoryUrl}`, "--certificates-roots", pebble.rootsPath],
    ...["--certificates-authorities", "lets_encrypt", "--certificates-zone-authorities", "lets_encrypt"],
  ]);
  const hosts = ["a.deep.packs.test", "*.deep.packs.test"];
  const body = { type: "advanced", hosts, certificate_authority: "lets_encrypt", validation_method: "txt" };
  const made = await succeed(call("POST", `${packs}/order`, body));
  const active = await until(made.id, "active");
  assert.deepEqual([active.certificate_authority, active.hosts], ["lets_encrypt", hosts]);
  // SPEC 2.7: no authority over ACME signs the service's name, and the response says so.
  const branded = await call("PATCH", `${packs}/${made.id}`, { svc_branding: true });
  assert.match(branded.body.messages.map(({ message }) => message).join(), /lets_encrypt does not sign this service's name/);
  await eventually(async () => String((await certificateAt(https, "a.deep.packs.test")).issuer.CN).startsWith("Pebble"), 100);
  await succeed(call("DELETE", `${packs}/${made.id}`));
});
