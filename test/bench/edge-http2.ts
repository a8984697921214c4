import type { Benchmark, Contender } from "./benchmark.ts";
import { NGINX, SITE_HOST, type SiteProxy, startEngineSite } from "./edge-site.ts";
import { visitSecurely } from "./http-load.ts";

/** Browsers open one connection and ask for many things at once. */
const CONNECTIONS = 16;
/** Only HTTP/2 is offered: a proxy that does not speak it fails, and is not measured in another protocol. */
const FLAGS = ["-m", "8", "--npn-list=h2"];

/** Visitors of HTTP/2 through the edge to an nginx origin over HTTP/1.1; the peer is nginx as the proxy, one core each. */
export const edgeHttp2: Benchmark = {
  name: "edge-http2",
  unit: "proxied requests per CPU second of the proxy, HTTP/2",
  better: "higher",
  tools: ["h2load", "nginx", "openssl"],
  targetRatio: { peer: "nginx", ratio: 0.55 },
  prepare: async ({ directory, seconds }) => {
    const origin = `location / { return 200 "${"x".repeat(1024)}"; }`;
    const { ours, proxies, close } = await startEngineSite(directory, { origin, peers: [NGINX] });
    const contender = ({ name, pid, https: url }: SiteProxy): Contender => ({
      name,
      run: () => visitSecurely({ pid, url }, { host: SITE_HOST, connections: CONNECTIONS, seconds }, FLAGS),
    });
    return { ours: contender(ours), peers: proxies.map(contender), close };
  },
};
