import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Benchmark, Contender } from "./benchmark.ts";
import { NGINX, SITE_HOST, type SiteProxy, startEngineSite } from "./edge-site.ts";
import { visitSecurely } from "./http-load.ts";

/** Browsers open one connection and send many requests in parallel. */
const CONNECTIONS = 16;
/** Only HTTP/2 is offered: a proxy that does not speak it fails, and is not measured in another protocol. */
const FLAGS = ["-m", "8", "--npn-list=h2"];

/** HTTP/2 clients through the edge to an nginx origin over HTTP/1.1; the peer is nginx as the proxy, with one core each. */
const row = (name: string, bodyBytes: number, ratio: number): Benchmark => ({
  name,
  unit: "proxied requests per CPU second of the proxy, HTTP/2",
  better: "higher",
  tools: ["h2load", "nginx", "openssl"],
  targetRatio: { peer: "nginx", ratio },
  prepare: async ({ directory, seconds }) => {
    const root = join(directory, "www");
    await mkdir(root);
    await writeFile(join(root, "page"), "x".repeat(bodyBytes));
    const origin = `root ${root}; open_file_cache max=10;`;
    const { ours, proxies, close } = await startEngineSite(directory, { origin, peers: [NGINX] });
    const contender = ({ name: of, pid, https: url }: SiteProxy): Contender => ({
      name: of,
      run: () => visitSecurely({ pid, url }, { host: SITE_HOST, connections: CONNECTIONS, seconds }, FLAGS),
    });
    return { ours: contender(ours), peers: proxies.map(contender), close };
  },
});

export const edgeHttp2 = row("edge-http2", 1024, 1.2);
export const edgeHttp2Large = row("edge-http2-100k", 102_400, 1);
export const edgeHttp2Huge = row("edge-http2-1m", 1_048_576, 1);
