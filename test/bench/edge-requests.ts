import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { succeed } from "../support/api.ts";
import type { BenchContext, Benchmark, Contender, Contest } from "./benchmark.ts";
import {
  type EdgeSite,
  type EngineSite,
  NGINX,
  NGINX_BUFFERS,
  nginxWithLog,
  SITE_HOST,
  type SiteProxy,
  type SiteSpec,
  startEdgeSite,
  startEngineSite,
} from "./edge-site.ts";
import { TWENTY_RULES } from "./twenty-rules.ts";
import { visit, visitSecurely } from "./http-load.ts";

const CONNECTIONS = 64;
/** About the size of an API answer or a small script. */
const SMALL = `location / { return 200 "${"x".repeat(1024)}"; }`;
const LARGE_BYTES = 100 * 1024;

type Load = (context: BenchContext, proxy: SiteProxy) => Contender;

const overHttp = ({ seconds }: BenchContext, { name, pid, threads, http: url }: Omit<SiteProxy, "https">): Contender => ({
  name,
  run: () => visit({ pid, url, ...(threads === undefined ? {} : { threads }) }, { host: SITE_HOST, connections: CONNECTIONS, seconds }),
});

const overTls: Load = ({ seconds }, { name, pid, https: url }) => ({
  name,
  run: () => visitSecurely({ pid, url }, { host: SITE_HOST, connections: CONNECTIONS, seconds }, ["--h1"]),
});

/** Clients with kept-alive connections through the edge to an nginx origin; the peer is nginx as the proxy, with one core each. */
const row = (spec: Pick<Benchmark, "name" | "targetRatio" | "prepare"> & Partial<Benchmark>): Benchmark => ({
  unit: "proxied requests per CPU second of the proxy, HTTP/1.1",
  better: "higher",
  tools: ["wrk", "h2load", "nginx", "openssl"],
  ...spec,
});

/** The edge alone beside an nginx without a log, to measure the cost of proxying. */
export const edgeProxy = row({
  name: "edge-proxy",
  targetRatio: { peer: "nginx", ratio: 0.75 },
  prepare: async (context) => engineContest(context, await startEngineSite(context.directory, { origin: SMALL, peers: [NGINX] }), overHttp),
});

/** As in production: each request writes its row, and the second peer writes a log line with the same content. */
export const edgeRequests = row({
  name: "edge-requests",
  targetRatio: { peer: "nginx", ratio: 0.6 },
  prepare: async (context) => serverContest(context, await startEdgeSite(context.directory, logging(context))),
});

/** A rule matches each request, so that each writes a security event besides its row. */
export const edgeEvents = row({
  name: "edge-events",
  targetRatio: { peer: "nginx", ratio: 0.6 },
  prepare: async (context) => {
    const site = await startEdgeSite(context.directory, logging(context));
    const rules = [{ action: "log", expression: 'http.request.uri.path contains "page"', description: "pages" }];
    await succeed(site.call("PUT", `/zones/${site.zoneId}/rulesets/phases/http_request_firewall_custom/entrypoint`, { rules }));
    return serverContest(context, site);
  },
});

/** The edge alone with twenty rules in five phases, beside nginx without rules. */
export const edgeRules = row({
  name: "edge-rules",
  targetRatio: { peer: "nginx", ratio: 0.6 },
  prepare: async (context) =>
    engineContest(context, await startEngineSite(context.directory, { origin: SMALL, peers: [NGINX], args: ["rules"] }), overHttp),
});

/** The same as it runs, with a row for each request. */
export const edgeRulesRequests = row({
  name: "edge-rules-requests",
  prepare: async (context) => {
    const site = await startEdgeSite(context.directory, logging(context));
    for (const [phase, rules] of Object.entries(TWENTY_RULES))
      await succeed(site.call("PUT", `/zones/${site.zoneId}/rulesets/phases/${phase}/entrypoint`, { rules }));
    return serverContest(context, site);
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
    return engineContest(context, await startEngineSite(context.directory, { origin, peers: [NGINX, NGINX_BUFFERS] }), overHttp);
  },
});

export const edgeTls = row({
  name: "edge-tls",
  unit: "proxied requests per CPU second of the proxy, HTTP/1.1 over TLS",
  targetRatio: { peer: "nginx", ratio: 0.9 },
  prepare: async (context) => engineContest(context, await startEngineSite(context.directory, { origin: SMALL, peers: [NGINX] }), overTls),
});

const logging = ({ directory }: BenchContext): SiteSpec => ({ origin: SMALL, peers: [NGINX, nginxWithLog(directory)] });

const engineContest = (context: BenchContext, { ours, proxies, close }: EngineSite, load: Load): Contest => ({
  ours: load(context, ours),
  peers: proxies.map((proxy) => load(context, proxy)),
  close,
});

const serverContest = (context: BenchContext, { selvedge, proxies, close }: EdgeSite): Contest => ({
  ours: overHttp(context, { name: "selvedge", pid: selvedge.pid, threads: "edge", http: new URL("/page", selvedge.ready.http) }),
  peers: proxies.map((proxy) => overHttp(context, proxy)),
  close,
});
