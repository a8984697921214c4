import { join } from "node:path";
import { succeed } from "../support/api.ts";
import { type BenchServer, startBenchServer } from "./bench-server.ts";
import { startNginx } from "./nginx.ts";
import { freePort, pinToFirstCpu, pinToOtherCpus, runTool, type Server, startScript } from "./program.ts";

const ZONE = "requests.example";
export const SITE_HOST = `www.${ZONE}`;

/** One site behind our edge and behind nginx. Each proxy uses the first CPU, load and origin the others. */
export interface EdgeSite extends BenchServer {
  readonly zoneId: string;
  readonly originPort: number;
  readonly proxies: readonly SiteProxy[];
  close(): Promise<void>;
}

export interface EngineSite {
  readonly ours: SiteProxy;
  readonly proxies: readonly SiteProxy[];
  close(): Promise<void>;
}

export interface SiteProxy {
  readonly name: string;
  readonly pid: number;
  /** Prefix of the names of threads whose CPU time is also reported separately. */
  readonly threads?: string;
  readonly http: URL;
  readonly https: URL;
}

export interface SiteSpec {
  /** Directives of the origin's `server` block. */
  readonly origin: string;
  readonly peers: readonly PeerSpec[];
  /** Flags of `selvedge start`, or arguments of edge-engine.ts. */
  readonly args?: readonly string[];
}

export interface PeerSpec {
  readonly name: string;
  /** Directives of nginx outside of blocks, and of its `http` and `server` blocks. */
  readonly main?: string;
  readonly http?: string;
  readonly server?: string;
}

export const NGINX: PeerSpec = { name: "nginx" };

/** Fields of our request row, except the tenant. */
const LOG_FIELDS =
  '"ray_id":"$request_id","at":"$msec","client_ip":"$remote_addr","method":"$request_method","scheme":"$scheme","host":"$host",' +
  '"path":"$uri","query":"$args","user_agent":"$http_user_agent","status":$status,"origin_status":"$upstream_status",' +
  '"bytes_in":$request_length,"bytes_out":$bytes_sent,"duration":$request_time';

/** Writes a line for each request, buffered as its manual advises. */
export const nginxWithLog = (directory: string): PeerSpec => ({
  name: "nginx, log",
  http: `log_format json escape=json '{${LOG_FIELDS}}'; access_log ${join(directory, "access.log")} json buffer=64k flush=1s;`,
});

/** Keeps a large response in memory instead of writing it to a file for slow readers. */
export const NGINX_BUFFERS: PeerSpec = {
  name: "nginx, tuned",
  server: "proxy_buffer_size 16k; proxy_buffers 16 64k; proxy_busy_buffers_size 128k;",
};

export async function startEdgeSite(directory: string, { args = [], ...spec }: SiteSpec): Promise<EdgeSite> {
  const { originPort, proxies, close } = await startPeers(directory, spec);
  const bench = await startBenchServer(["--edge-origin-port", String(originPort), ...args]);
  await pinToFirstCpu(bench.selvedge.pid);
  const zoneId = await bench.createZone(ZONE);
  await succeed(
    bench.call("POST", `/zones/${zoneId}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }),
  );
  return { ...bench, zoneId, originPort, proxies, close: () => bench.selvedge.stop().then(close) };
}

/** The same with the edge by itself: edge-engine.ts, in a process that writes no rows. */
export async function startEngineSite(directory: string, { args: more = [], ...spec }: SiteSpec): Promise<EngineSite> {
  const { originPort, proxies, close } = await startPeers(directory, spec);
  const [http, https] = [await freePort(), await freePort()];
  const args = [String(http), String(https), SITE_HOST, ZONE, String(originPort), ...more];
  const engine = await startScript("edge-engine.ts", args, () => fetch(pageAt("http", http), { signal: AbortSignal.timeout(500) }));
  await pinToFirstCpu(engine.pid);
  const ours = { name: "selvedge", pid: engine.pid, http: pageAt("http", http), https: pageAt("https", https) };
  return { ours, proxies, close: () => engine.stop().then(close) };
}

/** The origin, and nginx in front of it in each of the ways. */
async function startPeers(directory: string, { origin: originBlock, peers }: Omit<SiteSpec, "args">) {
  const originPort = await freePort();
  const origin = await startNginx(directory, { name: "origin", port: originPort, server: originBlock });
  await pinToOtherCpus(origin.pid);
  const certificate = await selfSigned(directory);
  const servers: Server[] = [origin];
  const proxies: SiteProxy[] = [];
  for (const [i, peer] of peers.entries()) {
    const [http, https] = [await freePort(), await freePort()];
    const server = await startNginx(directory, {
      name: `proxy-${i}`,
      port: http,
      main: peer.main ?? "",
      http: `upstream origin { server 127.0.0.1:${originPort}; keepalive 256; } ${peer.http ?? ""}`,
      // The cipher that our edge prefers: by default clients choose a slower one with nginx.
      server: `listen 127.0.0.1:${https} ssl http2; ${certificate} ssl_protocols TLSv1.2 TLSv1.3; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256; ${peer.server ?? ""} location / { ${forwardTo("http://origin")} }`,
    });
    await pinToFirstCpu(server.pid);
    servers.push(server);
    proxies.push({ name: peer.name, pid: server.pid, http: pageAt("http", http), https: pageAt("https", https) });
  }
  const close = async (): Promise<void> => {
    for (const server of servers) await server.stop();
  };
  return { originPort, proxies, close };
}

/** To an upstream, as our edge does it. */
export const forwardTo = (url: string): string =>
  `proxy_pass ${url}; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;`;

const pageAt = (scheme: string, port: number): URL => new URL(`${scheme}://127.0.0.1:${port}/page`);

/** Of the kind that the local authority issues: ECDSA with P-256. */
export async function selfSigned(directory: string): Promise<string> {
  const [key, certificate] = [join(directory, "key.pem"), join(directory, "certificate.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", `/CN=${SITE_HOST}`, "-addext", `subjectAltName=DNS:${SITE_HOST}`];
  await runTool("openssl", ["req", "-x509", ...curve, "-days", "2", ...names, "-keyout", key, "-out", certificate]);
  return `ssl_certificate ${certificate}; ssl_certificate_key ${key};`;
}
