import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import type { Benchmark, BenchContext, Contest } from "./benchmark.ts";
import { selfSigned, SITE_HOST, startEdgeSite } from "./edge-site.ts";
import { visit, visitSecurely } from "./http-load.ts";
import { freePort, pinToOtherCpus, startProgram } from "./program.ts";

const PROGRAM = join(dirname(dirname(import.meta.dirname)), "bin/selvedge.js");
const TUNNELLED_HOST = SITE_HOST.replace("www.", "app.");
const CONNECTIONS = 64;

/**
 * One site twice, through a tunnel and without one: the same edge, the same origin, and a connector beside the origin. `isSecure`: visitors come
 * over TLS, and without the tunnel the edge reaches the origin over TLS too, as it would past one machine.
 */
async function prepare({ directory, seconds }: BenchContext, origin: string, isSecure: boolean): Promise<Contest> {
  const tlsPort = await freePort();
  const listen = isSecure ? `listen 127.0.0.1:${tlsPort} ssl; ${await selfSigned(directory)} ` : "";
  const site = await startEdgeSite(directory, { origin: listen + origin, peers: [] });
  if (isSecure) {
    await succeed(site.call("PATCH", `/zones/${site.zoneId}/settings/ssl`, { value: "full" }));
    const rules = [{ action: "route", expression: `http.host eq "${SITE_HOST}"`, action_parameters: { origin: { port: tlsPort } } }];
    await succeed(site.call("PUT", `/zones/${site.zoneId}/rulesets/phases/http_request_origin/entrypoint`, { rules }));
  }
  const { pid, ready } = site.selvedge;
  const tunnels = `/accounts/${ready.account_id}/cfd_tunnel`;
  const { id } = await succeed(site.call("POST", tunnels, { name: "bench" }));
  const record = { type: "CNAME", name: "app", content: `${id}.tunnel.internal`, proxied: true };
  await succeed(site.call("POST", `/zones/${site.zoneId}/dns_records`, record));
  const token = await succeed(site.call("GET", `${tunnels}/${id}/token`));
  const args = ["--edge", `127.0.0.1:${new URL(ready.https).port}`, "--url", `http://127.0.0.1:${site.originPort}`, "--log-level", "warn"];
  const isConnected = async (): Promise<void> =>
    eventually(async () => (await succeed(site.call("GET", `${tunnels}/${id}`))).status === "healthy");
  const connector = await startProgram("connector", process.execPath, [PROGRAM, "tunnel", "run", token, ...args], isConnected);
  await pinToOtherCpus(connector.pid);
  const contender = (name: string, host: string) => ({
    name,
    run: () =>
      isSecure
        ? visitSecurely({ pid, threads: "edge", url: new URL("/page", ready.https) }, { host, connections: CONNECTIONS, seconds }, ["--h1"])
        : visit({ pid, threads: "edge", url: new URL("/page", ready.http) }, { host, connections: CONNECTIONS, seconds }),
  });
  return {
    ours: contender("selvedge", TUNNELLED_HOST),
    peers: [contender("without a tunnel", SITE_HOST)],
    close: () => connector.stop().then(site.close),
  };
}

const row = (name: string, size: string, origin: (directory: string) => Promise<string>, isSecure = false): Benchmark => ({
  name,
  unit: `requests through a tunnel per CPU second of the edge, HTTP/1.1${isSecure ? " over TLS, origin over TLS without it" : ""}, responses of ${size}`,
  better: "higher",
  tools: [isSecure ? "h2load" : "wrk", "nginx", "openssl"],
  targetRatio: { peer: "without a tunnel", ratio: 0.7 },
  prepare: async (context) => prepare(context, await origin(context.directory), isSecure),
});

export const edgeTunnel = row("edge-tunnel", "1 KiB", async () => `location / { return 200 "${"x".repeat(1024)}"; }`);

const largePage = async (directory: string): Promise<string> => {
  const root = join(directory, "www");
  await mkdir(root);
  await writeFile(join(root, "page"), "x".repeat(100 * 1024));
  return `root ${root}; open_file_cache max=10;`;
};

export const edgeTunnelLarge = row("edge-tunnel-100k", "100 KiB", largePage);
export const edgeTunnelSecure = row("edge-tunnel-100k-tls", "100 KiB", largePage, true);
