import type { Benchmark, Contender } from "./benchmark.ts";
import { NGINX, nginxWithLog, SITE_HOST, startEdgeSite } from "./edge-site.ts";
import { type VisitedProxy, visitSecurely } from "./http-load.ts";

/** Browsers open one connection and ask for many things at once. */
const CONNECTIONS = 16;
const STREAMS = "8";

/** Visitors of HTTP/2 through the edge to an nginx origin over HTTP/1.1; the peer is nginx as the proxy, one core each. */
export const edgeHttp2: Benchmark = {
  name: "edge-http2",
  unit: "proxied requests per CPU second of the proxy, HTTP/2",
  better: "higher",
  tools: ["h2load", "nginx", "openssl"],
  targetRatio: { peer: "nginx", ratio: 0.55 },
  prepare: async ({ directory, seconds }) => {
    const origin = `location / { return 200 "${"x".repeat(1024)}"; }`;
    const site = await startEdgeSite(directory, { origin, peers: [NGINX, nginxWithLog(directory)] });
    const contender = (name: string, proxy: VisitedProxy): Contender => ({
      name,
      run: () => visitSecurely(proxy, { host: SITE_HOST, connections: CONNECTIONS, seconds }, ["-m", STREAMS]),
    });
    const { pid, ready } = site.selvedge;
    return {
      ours: contender("selvedge", { pid, threads: "edge", url: new URL("/page", ready.https) }),
      peers: site.proxies.map((proxy) => contender(proxy.name, { pid: proxy.pid, url: proxy.https })),
      close: site.close,
    };
  },
};
