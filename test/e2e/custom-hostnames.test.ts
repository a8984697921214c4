import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import { request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { TLSSocket } from "node:tls";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import Cloudflare from "cloudflare";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { eventually, readUntil } from "../support/eventually.ts";
import { startSelvedge, type Selvedge } from "../support/selvedge.ts";

// A service and a customer of it, whose zone lives here too: the vendor's own client, real DNS, HTTP and HTTPS.

const TOKEN = "0123456789abcdefghijklmnopqrstuvwxyzABCD";

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly issuer: string;
}

describe("custom hostnames on a running server", () => {
  let selvedge: Selvedge;
  let client: Cloudflare;
  let origin: Server;
  let dataDir: string;
  let saas: string;
  let customer: string;
  let shop: string;
  let root: string;

  const start = async (): Promise<void> => {
    selvedge = await startSelvedge({
      dataDir,
      env: { SELVEDGE_BOOTSTRAP_TOKEN: TOKEN, SELVEDGE_EDGE_ORIGIN_PORT: String((origin.address() as AddressInfo).port) },
    });
    client = new Cloudflare({ apiToken: TOKEN, baseURL: selvedge.ready.api, maxRetries: 0 });
  };
  const point = (name: string, content: string) => client.dns.records.create({ zone_id: customer, type: "CNAME", name, content, ttl: 60 });
  const get = (host: string, secure = false): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(secure ? selvedge.ready.https : selvedge.ready.http);
      const options = { host: hostname, port, path: "/page", headers: { host }, agent: false };
      const asked = (secure ? httpsRequest : request)({ ...options, ...(secure ? { servername: host, ca: root } : {}) }, (res) => {
        const { issuer } = res.socket instanceof TLSSocket ? res.socket.getPeerCertificate() : {};
        let body = "";
        res.setEncoding("utf8").on("data", (text: string) => (body += text));
        res.on("end", () => resolve({ status: res.statusCode ?? 0, body, issuer: String(issuer?.O ?? "") }));
      });
      asked.on("error", reject).end();
    });

  /** Planes serve a certificate that a job deployed some milliseconds after the API shows it; until then the edge refuses the name. */
  const getOnceServed = async (host: string): Promise<Answer> => {
    const answer = await readUntil(
      () => get(host, true).catch(ifUnrecognized),
      (found) => found !== null,
    );
    assert.ok(answer);
    return answer;
  };

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "selvedge-hostnames-"));
    origin = createServer((req, res) => res.end(`for ${req.headers.host}`));
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    await start();
    root = await readFile(join(dataDir, "ca.pem"), "utf8");
    const account = { id: selvedge.ready.account_id };
    saas = (await client.zones.create({ account, name: "service.test" })).id;
    customer = (await client.zones.create({ account, name: "customer.test" })).id;
    await client.dns.records.create({ zone_id: saas, type: "A", name: "origin", content: "127.0.0.1", proxied: true, ttl: 1 });
  });
  after(async () => {
    await selvedge.kill();
    origin.close();
    origin.closeAllConnections();
    await rm(dataDir, { recursive: true, force: true });
  });

  test("fallbackOrigin: set, get, and errors while it is missing", async () => {
    await assert.rejects(client.customHostnames.fallbackOrigin.get({ zone_id: saas }), failing(404, 1551));
    const set = await client.customHostnames.fallbackOrigin.update({ zone_id: saas, origin: "origin.service.test" });
    assert.deepEqual([set.origin, set.status], ["origin.service.test", "active"]);
    assert.equal((await client.customHostnames.fallbackOrigin.get({ zone_id: saas })).status, "active");
  });

  test("SPEC 1.4: the edge serves a hostname that points here over HTTP and HTTPS right after its creation", async () => {
    assert.equal((await get("shop.customer.test")).status, 530);
    await point("shop", "origin.service.test");
    const made = await client.customHostnames.create({ zone_id: saas, hostname: "shop.customer.test", ssl: { method: "txt", type: "dv" } });
    assert.deepEqual([made.status, made.ssl?.status, made.ssl?.certificate_authority], ["active", "active", ""]);
    shop = made.id ?? "";
    assert.deepEqual(await get("shop.customer.test"), { status: 200, body: "for shop.customer.test", issuer: "" });
    const secure = await get("shop.customer.test", true);
    assert.deepEqual([secure.status, secure.body, secure.issuer], [200, "for shop.customer.test", "Selvedge"]);
    await assert.rejects(
      client.customHostnames.create({ zone_id: saas, hostname: "shop.customer.test", ssl: { method: "txt", type: "dv" } }),
      failing(409, 1406),
    );
    await assert.rejects(client.customHostnames.create({ zone_id: saas, hostname: "www.example.com" }), failing(400, 1411));
    await assert.rejects(client.customHostnames.get("00000000-0000-4000-8000-000000000000", { zone_id: saas }), failing(404, 1436));
  });

  test("a hostname becomes active by itself once its DNS points here", async () => {
    const made = await client.customHostnames.create({
      zone_id: saas,
      hostname: "later.customer.test",
      ssl: { method: "http", type: "dv" },
    });
    assert.deepEqual([made.status, made.ssl?.status], ["pending", "pending_validation"]);
    assert.equal(made.verification_errors?.[0], "custom hostname does not CNAME to this zone.");
    assert.equal((await get("later.customer.test")).status, 530);
    const token = await fetchToken(selvedge, made.ownership_verification_http?.http_url ?? "");
    assert.equal(token, made.ownership_verification_http?.http_body);
    await point("later", "shop.customer.test");
    await eventually(async () => (await client.customHostnames.get(made.id ?? "", { zone_id: saas })).ssl?.status === "active");
    assert.equal((await getOnceServed("later.customer.test")).body, "for later.customer.test");
  });

  test("a custom certificate with its key is served, and an unsuitable one is refused", async () => {
    const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
    const [good, other] = await Promise.all([ca.issue(["own.customer.test"]), ca.issue(["other.customer.test"])]);
    await point("own", "service.test");
    const create = (certificate: string, key: string) =>
      client.customHostnames.create({
        zone_id: saas,
        hostname: "own.customer.test",
        ssl: { custom_certificate: certificate, custom_key: key },
      });
    await assert.rejects(create(good.chain, other.privateKey), failing(400, 1429));
    await assert.rejects(create(other.chain, other.privateKey), failing(400, 1443));
    await assert.rejects(create(good.chain, "nonsense"), failing(400, 1427));
    const made = await create(good.chain, good.privateKey);
    assert.deepEqual([made.status, made.ssl?.status], ["active", "active"]);
    assert.equal(JSON.stringify(made).includes("PRIVATE KEY"), false);

    const { certificates } = client.customHostnames.certificatePack;
    const ids = (hostname: object) => {
      const { id, ssl } = hostname as { id: string; ssl: { id: string; certificates: { id: string }[] } };
      return { zone_id: saas, custom_hostname_id: id, certificate_pack_id: ssl.id, certificate_id: ssl.certificates[0]?.id ?? "" };
    };
    const { certificate_id: first, ...named } = ids(made);
    const next = await ca.issue(["*.customer.test"]);
    const body = { custom_certificate: next.chain, custom_key: next.privateKey };
    const replaced = await certificates.update(first, { ...named, ...body });
    const second = ids(replaced ?? {}).certificate_id;
    assert.notEqual(second, first);
    await assert.rejects(certificates.update(first, { ...named, ...body }), failing(404, 10434));
    assert.equal((await certificates.delete(second, named)).id, named.custom_hostname_id);
    await eventually(async () => (await client.customHostnames.get(named.custom_hostname_id, { zone_id: saas })).ssl?.status === "active");
    assert.equal((await getOnceServed("own.customer.test")).issuer, "Selvedge");
  });

  test("custom hostnames survive a power cut, and a copied snapshot serves them", async () => {
    await selvedge.kill();
    await start();
    assert.equal((await get("shop.customer.test", true)).body, "for shop.customer.test");
    const shown = await client.customHostnames.get(shop, { zone_id: saas });
    assert.deepEqual([shown.hostname, shown.status], ["shop.customer.test", "active"]);
    const all: string[] = [];
    for await (const hostname of client.customHostnames.list({ zone_id: saas })) all.push(hostname.hostname ?? "");
    assert.deepEqual(all, ["shop.customer.test", "later.customer.test", "own.customer.test"]);
    const { result: some } = await client.customHostnames.list({ zone_id: saas, hostname: { contain: "late" } });
    assert.deepEqual(
      some.map(({ hostname }) => hostname),
      ["later.customer.test"],
    );
  });

  test("SPEC 3.2 a hostname that no longer points here moves; SPEC 4.4 a PATCH reactivates it", async () => {
    const records = await client.dns.records.list({ zone_id: customer, type: "CNAME" });
    const record = records.result.find(({ name }) => name === "shop.customer.test");
    await client.dns.records.edit(record?.id ?? "", { zone_id: customer, type: "CNAME", name: "shop", content: "elsewhere.test", ttl: 60 });
    await eventually(async () => (await client.customHostnames.get(shop, { zone_id: saas })).status === "moved");
    await eventually(async () => (await get("shop.customer.test")).status === 530);
    await client.dns.records.edit(record?.id ?? "", {
      zone_id: customer,
      type: "CNAME",
      name: "shop",
      content: "origin.service.test",
      ttl: 60,
    });
    const ssl = { method: "txt", type: "dv", certificate_authority: "" } as unknown as { method: "txt"; type: "dv" };
    const edited = await client.customHostnames.edit(shop, { zone_id: saas, ssl });
    assert.equal(edited.status, "active");
    assert.equal((await get("shop.customer.test", true)).body, "for shop.customer.test");
  });

  test("the edge no longer serves a deleted hostname, and the response to the deletion names it", async () => {
    assert.deepEqual((await client.customHostnames.delete(shop, { zone_id: saas })).id, shop);
    assert.equal((await get("shop.customer.test")).status, 530);
    await assert.rejects(client.customHostnames.get(shop, { zone_id: saas }), failing(404, 1436));
    assert.equal((await client.customHostnames.fallbackOrigin.delete({ zone_id: saas })).status, "pending_deletion");
    assert.equal((await get("later.customer.test")).status, 530);
    assert.deepEqual(await client.customHostnames.quota.get({ zone_id: saas }), {
      allocated: 50_000,
      used: 2,
      exceeded: false,
      hard_cap: 50_000,
    });
  });

  test("zones.holds: create, get, edit and delete", async () => {
    const holds = client.zones.holds;
    assert.deepEqual(await holds.create({ zone_id: customer, include_subdomains: true }), {
      hold: true,
      hold_after: "",
      include_subdomains: true,
    });
    assert.equal((await holds.edit({ zone_id: customer, include_subdomains: false })).hold, true);
    assert.equal((await holds.get({ zone_id: customer })).hold, true);
    assert.equal((await holds.delete({ zone_id: customer })).hold, false);
  });
});

async function fetchToken(selvedge: Selvedge, url: string): Promise<string> {
  const { host, pathname } = new URL(url);
  const edge = new URL(selvedge.ready.http);
  return new Promise((resolve, reject) => {
    request({ host: edge.hostname, port: edge.port, path: pathname, headers: { host }, agent: false }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (text: string) => (body += text));
      res.on("end", () => resolve(body));
    })
      .on("error", reject)
      .end();
  });
}

/** Null for the TLS alert that refuses a name, whichever end of the connection notices it first. */
function ifUnrecognized(error: Error): null {
  assert.match(error.message, /unrecognized name/);
  return null;
}

const failing = (status: number, code: number) => (error: unknown) => {
  assert.ok(error instanceof Cloudflare.APIError, String(error));
  assert.deepEqual([error.status, error.errors[0]?.code], [status, code]);
  return true;
};
