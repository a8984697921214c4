import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { succeed } from "../support/api.ts";
import type { Benchmark } from "./benchmark.ts";
import { forwardTo, NGINX, selfSigned, SITE_HOST, startEdgeSite } from "./edge-site.ts";
import { type VisitedProxy, visitSecurely } from "./http-load.ts";
import { freePort } from "./program.ts";

const CONNECTIONS = 64;

/** TLS on both sides over kept-alive connections: each byte is decrypted and encrypted again. */
export const edgeOriginTls: Benchmark = {
  name: "edge-origin-tls",
  unit: "proxied requests per CPU second of the proxy, HTTP/1.1 over TLS, from an origin over TLS",
  better: "higher",
  tools: ["h2load", "nginx", "openssl"],
  targetRatio: { peer: "nginx", ratio: 0.7 },
  prepare: async ({ directory, seconds }) => {
    const port = await freePort();
    const home = join(directory, "secure-origin");
    await mkdir(home);
    const origin = `listen 127.0.0.1:${port} ssl; ${await selfSigned(home)} location / { return 200 "${"x".repeat(1024)}"; }`;
    const http = `upstream secure { server 127.0.0.1:${port}; keepalive 256; }`;
    const peer = { ...NGINX, http, server: `location /page { ${forwardTo("https://secure")} }` };
    const site = await startEdgeSite(directory, { origin, peers: [peer] });
    await succeed(site.call("PATCH", `/zones/${site.zoneId}/settings/ssl`, { value: "full" }));
    const rules = [{ action: "route", expression: "ssl", action_parameters: { origin: { port } } }];
    await succeed(site.call("PUT", `/zones/${site.zoneId}/rulesets/phases/http_request_origin/entrypoint`, { rules }));
    const contender = (name: string, proxy: VisitedProxy) => ({
      name,
      run: () => visitSecurely(proxy, { host: SITE_HOST, connections: CONNECTIONS, seconds }, ["--h1"]),
    });
    const { pid, ready } = site.selvedge;
    return {
      ours: contender("selvedge", { pid, threads: "edge", url: new URL("/page", ready.https) }),
      peers: site.proxies.map((proxy) => contender(proxy.name, { pid: proxy.pid, url: proxy.https })),
      close: site.close,
    };
  },
};
