import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { connect } from "node:tls";
import Cloudflare from "cloudflare";
import { createLocalCa, createRoot, type LocalCa } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { startSelvedge, type Selvedge } from "../support/selvedge.ts";

// Certificates that a zone's owner brings: the vendor's own client, and handshakes with the edge.

const TOKEN = "0123456789abcdefghijklmnopqrstuvwxyzABCD";

describe("certificates that the zone's owner uploads", () => {
  let selvedge: Selvedge;
  let client: Cloudflare;
  let origin: Server;
  let dataDir: string;
  let zone: string;
  let ca: LocalCa;

  const start = async (): Promise<void> => {
    const env = { SELVEDGE_BOOTSTRAP_TOKEN: TOKEN, SELVEDGE_EDGE_ORIGIN_PORT: String((origin.address() as AddressInfo).port) };
    selvedge = await startSelvedge({ dataDir, env });
    client = new Cloudflare({ apiToken: TOKEN, baseURL: selvedge.ready.api, maxRetries: 0 });
  };
  /** The fingerprint of the certificate that the edge shows for the name. */
  const shown = async (servername: string): Promise<string> => {
    const { hostname: host, port } = new URL(selvedge.ready.https);
    const socket = connect({ host, port: Number(port), servername, rejectUnauthorized: false });
    try {
      await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
      return socket.getPeerCertificate().fingerprint256.replaceAll(":", "").toLowerCase();
    } finally {
      socket.destroy();
    }
  };
  const issue = async (...hosts: readonly string[]) => {
    const { chain, privateKey } = await ca.issue(hosts);
    return { certificate: chain, private_key: privateKey, fingerprint: fingerprintOf(chain) };
  };
  const upload = async (type: "legacy_custom" | "sni_custom", ...hosts: readonly string[]) => {
    const { fingerprint, ...pair } = await issue(...hosts);
    return { ...(await client.customCertificates.create({ zone_id: zone, ...pair, type })), fingerprint };
  };
  const removeAll = async (): Promise<void> => {
    for await (const { id } of client.customCertificates.list({ zone_id: zone }))
      await client.customCertificates.delete(id, { zone_id: zone });
  };

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "selvedge-certificates-"));
    origin = createServer((_req, res) => res.end("page"));
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    await start();
    zone = (await client.zones.create({ account: { id: selvedge.ready.account_id }, name: "own.test" })).id;
    ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
  });
  after(async () => {
    await selvedge.kill();
    origin.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  test("the edge serves an uploaded certificate at once, and no longer once it is deleted", async () => {
    const issued = await shown("www.own.test");
    const made = await upload("legacy_custom", "own.test", "*.own.test");
    assert.deepEqual([made.status, made.hosts, made.priority, made.zone_id], ["active", ["own.test", "*.own.test"], 0, zone]);
    assert.deepEqual([await shown("own.test"), await shown("www.own.test")], [made.fingerprint, made.fingerprint]);
    const { fingerprint: _, ...same } = made;
    assert.deepEqual(await client.customCertificates.get(made.id, { zone_id: zone }), same);
    const types: string[] = [];
    // The client asks for pages until one is empty.
    for await (const { type } of client.ssl.certificatePacks.list({ zone_id: zone })) types.push(type);
    assert.deepEqual(types, ["universal", "legacy_custom"]);
    assert.equal((await client.ssl.certificatePacks.get(made.id, { zone_id: zone })).primary_certificate, made.id);
    assert.deepEqual(await client.customCertificates.delete(made.id, { zone_id: zone }), { id: made.id });
    assert.equal(await shown("www.own.test"), issued);
    await assert.rejects(client.customCertificates.get(made.id, { zone_id: zone }), failing(404, 1002));
  });

  test("type and priority decide which of several certificates the edge serves", async () => {
    const [low, high, modern] = [
      await upload("legacy_custom", "own.test"),
      await upload("legacy_custom", "own.test"),
      await upload("sni_custom", "own.test"),
    ];
    assert.equal(await shown("own.test"), high.fingerprint);
    const certificates = [
      { id: low.id, priority: 2 },
      { id: modern.id, priority: 9 },
    ];
    const ordered = await client.customCertificates.prioritize.update({ zone_id: zone, certificates });
    assert.deepEqual(
      ordered.result.map(({ id, priority }) => [id, priority]),
      [
        [low.id, 2],
        [high.id, 0],
        [modern.id, 9],
      ],
    );
    assert.equal(await shown("own.test"), low.fingerprint);
    const unknown = client.customCertificates.prioritize.update({
      zone_id: zone,
      certificates: [{ id: high.id, priority: 5 }, { id: "0".repeat(32) }],
    });
    await assert.rejects(unknown, failing(404, 1002));
    assert.equal((await client.customCertificates.get(high.id, { zone_id: zone })).priority, 0, "all or none");
    await removeAll();
  });

  test("an edit replaces the certificate, and an sni_custom one gets a new ID", async () => {
    for (const type of ["legacy_custom", "sni_custom"] as const) {
      const made = await upload(type, "own.test");
      const next = await issue("own.test");
      const { certificate, private_key } = next;
      const edited = await client.customCertificates.edit(made.id, { zone_id: zone, certificate, private_key, bundle_method: "force" });
      assert.equal(edited.id === made.id, type === "legacy_custom");
      assert.deepEqual([await shown("own.test"), edited.bundle_method], [next.fingerprint, "force"]);
      const wrong = client.customCertificates.edit(edited.id, { zone_id: zone, certificate: (await issue("own.test")).certificate });
      await assert.rejects(wrong, failing(400, 2200), "the old key is not the new certificate's");
      assert.equal((await client.customCertificates.edit(edited.id, { zone_id: zone, bundle_method: "optimal" })).bundle_method, "optimal");
      assert.equal(await shown("own.test"), next.fingerprint);
      await removeAll();
    }
  });

  test("a certificate that the edge cannot serve is refused with the reason", async () => {
    const good = await issue("own.test");
    const other = await issue("other.test");
    const past = createLocalCa({
      root: await createRoot(systemClock),
      clock: { ...systemClock, nowMs: () => Date.parse("2020-01-01T00:00:00Z") },
    });
    const { chain, privateKey } = await past.issue(["own.test"]);
    const create = (body: object) => client.customCertificates.create({ zone_id: zone, ...good, ...body });
    for (const [body, code] of [
      [{ certificate: "no certificate" }, 1002],
      [{ certificate: "" }, 1002],
      [{ private_key: "no key" }, 2106],
      [{ private_key: other.private_key }, 2200],
      [other, 2103],
      [{ certificate: chain, private_key: privateKey }, 2104],
      [{ certificate: good.certificate + other.certificate }, 2100],
      [{ policy: "(country: US)" }, 10415],
      [{ deploy: "staging" }, 10415],
      [{ custom_csr_id: "0".repeat(32) }, 1430],
    ] as const)
      await assert.rejects(create(body), failing(400, code), String(code));
    // Published clients send it empty.
    await create({ geo_restrictions: { label: "" } });
    await assert.rejects(create({}), failing(400, 1220));
    await removeAll();
  });

  test("the edge does not serve a certificate for names that belong to other tenants", async () => {
    const below = await client.zones.create({ account: { id: selvedge.ready.account_id }, name: "below.own.test" });
    const issued = await shown("www.below.own.test");
    const made = await upload("legacy_custom", "own.test", "www.below.own.test", "elsewhere.test");
    assert.deepEqual([await shown("own.test"), await shown("www.below.own.test")], [made.fingerprint, issued]);
    await client.zones.delete({ zone_id: below.id });
    await removeAll();
  });

  test("the edge serves an acknowledged certificate after kill -9, and deletes it with its zone", async () => {
    const made = await upload("sni_custom", "own.test");
    await selvedge.kill();
    await start();
    assert.equal(await shown("own.test"), made.fingerprint);
    await client.zones.delete({ zone_id: zone });
    await assert.rejects(shown("own.test"));
  });
});

const fingerprintOf = (chain: string): string => new X509Certificate(chain).fingerprint256.replaceAll(":", "").toLowerCase();

const failing =
  (status: number, code: number) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof Cloudflare.APIError, String(error));
    assert.deepEqual([error.status, error.errors[0]?.code], [status, code]);
    return true;
  };
