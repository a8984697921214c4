import assert from "node:assert/strict";
import { createServer, request, type Server } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import Cloudflare from "cloudflare";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

/** The cache of a whole installation with several edge threads, each with its own. */
describe("cache: a purge by the API reaches every thread before the API responds", () => {
  let selvedge: Selvedge;
  let client: Cloudflare;
  let origin: Server;
  let zoneId: string;
  let version = 1;

  before(async () => {
    origin = createServer((_req, res) =>
      res.writeHead(200, { "Cache-Control": "max-age=600", "Cache-Tag": "styles", "Content-Type": "text/css" }).end(`version ${version}`),
    );
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    selvedge = await startSelvedge({ args: ["--edge-workers", "2", "--edge-origin-port", String((origin.address() as AddressInfo).port)] });
    client = new Cloudflare({ apiToken: selvedge.ready.token, baseURL: selvedge.ready.api, maxRetries: 0 });
    const zone = await client.zones.create({ account: { id: selvedge.ready.account_id }, name: "cached.test", type: "full" });
    zoneId = zone.id;
    await client.dns.records.create({ zone_id: zoneId, type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
  });

  after(async () => {
    await selvedge?.stop();
    origin?.close();
    origin?.closeAllConnections();
  });

  const many = (path: string) => Promise.all(Array.from({ length: 40 }, () => getFrom(selvedge, path)));

  /** Until every thread has it. */
  const warm = async (path: string): Promise<void> => {
    for (let i = 0; i < 50; i++) if ((await many(path)).every(({ cache }) => cache === "HIT")) return;
    assert.fail("it never came from the cache alone");
  };

  const PURGES: readonly (readonly [name: string, body: () => object])[] = [
    ["files", () => ({ files: ["http://www.cached.test/a.css"] })],
    ["files with headers", () => ({ files: [{ url: "http://www.cached.test/a.css", headers: { Origin: "https://x.test" } }] })],
    ["tags", () => ({ tags: ["Styles"] })],
    ["hosts", () => ({ hosts: ["www.cached.test"] })],
    ["prefixes", () => ({ prefixes: ["www.cached.test/a"] })],
    ["purge_everything", () => ({ purge_everything: true })],
  ];
  for (const [name, body] of PURGES) {
    test(name, async () => {
      await warm("/a.css");
      version++;
      const result = await client.cache.purge({ zone_id: zoneId, ...body() } as Parameters<typeof client.cache.purge>[0]);
      assert.deepEqual(result, { id: zoneId });
      assert.deepEqual([...new Set((await many("/a.css")).map((reply) => reply.body))], [`version ${version}`]);
    });
  }
});

describe("cache: a kill -9 between two starts", () => {
  test("a restart serves stored responses, no purged ones and no partial ones", async (t) => {
    const dataDir = await mkdtemp(join(tmpdir(), "selvedge-cache-"));
    let asked = 0;
    const origin = createServer((_req, res) => {
      asked++;
      res.writeHead(200, { "Cache-Control": "max-age=600", "Content-Length": 500_000 }).end(String(asked % 10).repeat(500_000));
    });
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    const args = ["--edge-origin-port", String((origin.address() as AddressInfo).port), "--edge-cache-memory-bytes-max", "1000000"];
    let selvedge = await startSelvedge({ dataDir, args });
    t.after(async () => {
      await selvedge.stop();
      origin.close();
      origin.closeAllConnections();
      await rm(dataDir, { recursive: true, force: true });
    });
    const client = new Cloudflare({ apiToken: selvedge.ready.token, baseURL: selvedge.ready.api, maxRetries: 0 });
    const zone = await client.zones.create({ account: { id: selvedge.ready.account_id }, name: "cached.test", type: "full" });
    await client.dns.records.create({ zone_id: zone.id, type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
    for (const path of ["/kept.zip", "/purged.zip"]) {
      while ((await getFrom(selvedge, path)).cache !== "HIT") await new Promise((done) => setTimeout(done, 20));
    }
    const kept = await getFrom(selvedge, "/kept.zip");
    await client.cache.purge({ zone_id: zone.id, files: ["http://www.cached.test/purged.zip"] });
    // Amid writes of bodies.
    const torn = Array.from({ length: 10 }, (_, i) => getFrom(selvedge, `/torn-${i}.zip`).catch(() => null));
    await new Promise((done) => setTimeout(done, 15));
    await selvedge.kill();
    await Promise.all(torn);
    selvedge = await startSelvedge({ dataDir, args });
    assert.deepEqual(await getFrom(selvedge, "/kept.zip"), { cache: "HIT", body: kept.body });
    assert.equal((await getFrom(selvedge, "/purged.zip")).cache, "MISS");
    for (let i = 0; i < 10; i++) assert.match((await getFrom(selvedge, `/torn-${i}.zip`)).body, /^(\d)\1{499999}$/);
  });
});

/** Over a separate connection: the kernel distributes them over the threads. */
function getFrom(selvedge: Selvedge, path: string): Promise<{ readonly cache: string; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(selvedge.ready.http);
    const req = request({ host: "127.0.0.1", port, path, headers: { host: "www.cached.test" }, agent: false }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (piece: string) => void (body += piece));
      res.on("error", reject);
      res.on("end", () => resolve({ cache: String(res.headers["svc-cache-status"]), body }));
    });
    req.on("error", reject).end();
  });
}
