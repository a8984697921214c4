import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { succeed } from "../support/api.ts";
import type { BenchContext, Benchmark, Contender, Contest, Measurement } from "./benchmark.ts";
import { type EdgeSite, NGINX, NGINX_BUFFERS, nginxWithLog, SITE_HOST, type SiteProxy, startEdgeSite } from "./edge-site.ts";
import { visit, type VisitedProxy, visitSecurely } from "./http-load.ts";
import { freePort, pinToFirstCpu, startScript } from "./program.ts";

const CONNECTIONS = 64;
/** Names of our edge's threads begin so. */
const THREADS = "edge";
/** About the size of an API answer or a small script. */
const SMALL = `location / { return 200 "${"x".repeat(1024)}"; }`;
const LARGE_BYTES = 100 * 1024;

type Measure = (proxy: VisitedProxy, seconds: number) => Promise<Measurement>;

const overHttp: Measure = (proxy, seconds) => visit(proxy, { host: SITE_HOST, connections: CONNECTIONS, seconds });
const overTls: Measure = (proxy, seconds) => visitSecurely(proxy, { host: SITE_HOST, connections: CONNECTIONS, seconds }, ["--h1"]);

/** Visitors with keep-alive connections, through the edge to an nginx origin; the peer is nginx as the proxy, one core each. */
const row = (spec: Pick<Benchmark, "name" | "targetRatio" | "prepare"> & Partial<Benchmark>): Benchmark => ({
  unit: "proxied requests per CPU second of the proxy, HTTP/1.1",
  better: "higher",
  tools: ["wrk", "h2load", "nginx", "openssl"],
  ...spec,
});

/** Each request leaves its row, as always; the second peer writes a line of the same content. */
export const edgeRequests = row({
  name: "edge-requests",
  targetRatio: { peer: "nginx", ratio: 0.6 },
  prepare: async (context) => {
    const site = await startEdgeSite(context.directory, { origin: SMALL, peers: [NGINX, nginxWithLog(context.directory)] });
    return contest(context, site, overHttp, "http");
  },
});

/** A rule matches each request, so that it leaves a security event besides its row. */
export const edgeEvents = row({
  name: "edge-events",
  targetRatio: { peer: "nginx", ratio: 0.6 },
  prepare: async (context) => {
    const site = await startEdgeSite(context.directory, { origin: SMALL, peers: [NGINX, nginxWithLog(context.directory)] });
    const rules = [{ action: "log", expression: 'http.request.uri.path contains "page"', description: "pages" }];
    await succeed(site.call("PUT", `/zones/${site.zoneId}/rulesets/phases/http_request_firewall_custom/entrypoint`, { rules }));
    return contest(context, site, overHttp, "http");
  },
});

/** The edge by itself, in a process that writes no rows, beside an nginx that writes no log. */
export const edgeEngine = row({
  name: "edge-engine",
  targetRatio: { peer: "nginx", ratio: 0.75 },
  prepare: async (context) => {
    const site = await startEdgeSite(context.directory, { origin: SMALL, peers: [NGINX] });
    const zone = SITE_HOST.slice(SITE_HOST.indexOf(".") + 1);
    const url = new URL(`http://127.0.0.1:${await freePort()}/page`);
    const engine = await startScript("edge-engine.ts", [url.port, SITE_HOST, zone, String(site.originPort)], () => fetch(url));
    await pinToFirstCpu(engine.pid);
    const ours = contender(context, "selvedge", { pid: engine.pid, url }, overHttp);
    const { close, peers = [] } = contest(context, site, overHttp, "http");
    return { ours, peers, close: () => engine.stop().then(close) };
  },
});

export const edgeLarge = row({
  name: "edge-100k",
  targetRatio: { peer: "nginx", ratio: 1.3 },
  prepare: async (context) => {
    const root = join(context.directory, "www");
    await mkdir(root);
    await writeFile(join(root, "page"), "x".repeat(LARGE_BYTES));
    const origin = `root ${root}; open_file_cache max=10;`;
    return contest(context, await startEdgeSite(context.directory, { origin, peers: [NGINX, NGINX_BUFFERS] }), overHttp, "http");
  },
});

export const edgeTls = row({
  name: "edge-tls",
  unit: "proxied requests per CPU second of the proxy, HTTP/1.1 over TLS",
  targetRatio: { peer: "nginx", ratio: 0.9 },
  prepare: async (context) => {
    const site = await startEdgeSite(context.directory, { origin: SMALL, peers: [NGINX, nginxWithLog(context.directory)] });
    return contest(context, site, overTls, "https");
  },
});

function contest(context: BenchContext, site: EdgeSite, measure: Measure, scheme: "http" | "https"): Contest {
  const { selvedge, proxies, close } = site;
  const ours = { pid: selvedge.pid, threads: THREADS, url: new URL("/page", selvedge.ready[scheme]) };
  return {
    ours: contender(context, "selvedge", ours, measure),
    peers: proxies.map((proxy: SiteProxy) => contender(context, proxy.name, { pid: proxy.pid, url: proxy[scheme] }, measure)),
    close,
  };
}

const contender = ({ seconds }: BenchContext, name: string, proxy: VisitedProxy, measure: Measure): Contender => ({
  name,
  run: () => measure(proxy, seconds),
});
