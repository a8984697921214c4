import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { BenchContext, Benchmark, Contender } from "./benchmark.ts";
import { type PeerSpec, SITE_HOST, type SiteProxy, startEdgeSite, startEngineSite } from "./edge-site.ts";
import { visit } from "./http-load.ts";

const CONNECTIONS = 64;
/** A small style sheet that is cacheable for longer than any run. */
const ORIGIN = `location / { add_header Cache-Control "public, max-age=86400"; add_header ETag '"1"'; return 200 "${"x".repeat(1024)}"; }`;

/** Configured as in its manual: files in a directory, which the kernel caches in memory. */
const cachingNginx = (directory: string): PeerSpec => ({
  name: "nginx",
  http: `proxy_cache_path ${join(directory, "nginx-cache")} keys_zone=hits:10m;`,
  server: "proxy_cache hits; add_header X-Cache-Status $upstream_cache_status;",
});

const hits = (spec: Pick<Benchmark, "name" | "targetRatio" | "prepare">): Benchmark => ({
  unit: "requests answered from the cache per CPU second, 1 KB, HTTP/1.1",
  better: "higher",
  tools: ["wrk", "nginx", "openssl"],
  ...spec,
});

/** The edge alone beside an nginx without a log, both with the requested files in their caches. */
export const edgeCacheHits = hits({
  name: "edge-cache-hits",
  targetRatio: { peer: "nginx", ratio: 0.8 },
  prepare: async (context) => {
    const { ours, proxies, close } = await startEngineSite(context.directory, { origin: ORIGIN, peers: [cachingNginx(context.directory)] });
    return { ours: await warm(context, ours), peers: await Promise.all(proxies.map((proxy) => warm(context, proxy))), close };
  },
});

/** As in production: each request writes its row. */
export const edgeCacheHitsWithRows = hits({
  name: "edge-cache-hits-rows",
  targetRatio: { peer: "nginx", ratio: 0.6 },
  prepare: async (context) => {
    const { selvedge, proxies, close } = await startEdgeSite(context.directory, {
      origin: ORIGIN,
      peers: [cachingNginx(context.directory)],
    });
    const http = new URL("/page", selvedge.ready.http);
    const ours = { name: "selvedge", pid: selvedge.pid, threads: "edge", http, https: http };
    return { ours: await warm(context, ours), peers: await Promise.all(proxies.map((proxy) => warm(context, proxy))), close };
  },
});

/** Repeats the request until the cache serves it, which it then does for the whole run. */
async function warm({ seconds }: BenchContext, { name, pid, threads, http }: SiteProxy): Promise<Contender> {
  const url = new URL("/page.css", http);
  for (let tries = 0; tries < 100; tries++) {
    const { headers } = await ask(url);
    if ((headers["svc-cache-status"] ?? headers["x-cache-status"]) === "HIT")
      return {
        name,
        run: () =>
          visit({ pid, url, ...(threads === undefined ? {} : { threads }) }, { host: SITE_HOST, connections: CONNECTIONS, seconds }),
      };
  }
  throw new Error(`${name} never answered ${url.href} from its cache`);
}

const ask = (url: URL): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { host: SITE_HOST } }, (res) => resolve(res.resume())).on("error", reject);
  });
