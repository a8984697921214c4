import assert from "node:assert/strict";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import Cloudflare from "cloudflare";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

/** The cache of a whole installation with several edge threads, each with its own. */
describe("cache: purged by the API, in every thread before the answer comes", () => {
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

  /** A connection each: the kernel spreads them over the threads. */
  const get = (path: string): Promise<{ readonly cache: string; readonly body: string }> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(selvedge.ready.http);
      const req = request({ host: "127.0.0.1", port, path, headers: { host: "www.cached.test" }, agent: false }, (res) => {
        let body = "";
        res.setEncoding("utf8").on("data", (piece: string) => void (body += piece));
        res.on("end", () => resolve({ cache: String(res.headers["svc-cache-status"]), body }));
      });
      req.on("error", reject).end();
    });

  const many = (path: string) => Promise.all(Array.from({ length: 40 }, () => get(path)));

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
