import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { succeed } from "../support/api.ts";
import type { Benchmark, Contender, Measurement } from "./benchmark.ts";
import { startBenchServer } from "./bench-server.ts";
import { cpuSecondsOf } from "./cpu-time.ts";
import { freePort, runTool, type Server, startTool } from "./program.ts";

const ZONE = "requests.example";
const HOST = `www.${ZONE}`;
const CONNECTIONS = 32;
/** About the size of an API answer or a small script. */
const BODY = "x".repeat(1024);

/** Visitors with keep-alive connections, through the edge to an nginx origin; the peer is nginx as the proxy. */
export const edgeRequests: Benchmark = {
  name: "edge-requests",
  unit: "proxied requests per CPU second of the proxy, HTTP/1.1",
  better: "higher",
  tools: ["wrk", "nginx"],
  prepare: async ({ seconds, directory }) => {
    const originPort = await freePort();
    const proxyPort = await freePort();
    const origin = await startNginx(directory, "origin", originPort, `return 200 "${BODY}";`, "");
    const upstream = `upstream origin { server 127.0.0.1:${originPort}; keepalive ${CONNECTIONS}; }`;
    const forward = 'proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;';
    const proxy = await startNginx(directory, "proxy", proxyPort, forward, upstream);
    const { selvedge, call, createZone } = await startBenchServer(["--edge-origin-port", String(originPort)]);
    const zoneId = await createZone(ZONE);
    await succeed(call("POST", `/zones/${zoneId}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
    const contender = (name: string, pid: number, url: string): Contender => ({ name, run: () => visit(pid, url, seconds) });
    return {
      ours: contender("selvedge", selvedge.pid, selvedge.ready.http),
      peers: [contender("nginx", proxy.pid, `http://127.0.0.1:${proxyPort}`)],
      close: async () => {
        await selvedge.stop();
        await proxy.stop();
        await origin.stop();
      },
    };
  },
};

async function visit(pid: number, url: string, seconds: number): Promise<Measurement> {
  const args = [
    "-t",
    "1",
    "-c",
    String(CONNECTIONS),
    "-d",
    `${seconds}s`,
    "--latency",
    "-H",
    `Host: ${HOST}`,
    `${new URL(url).origin}/page`,
  ];
  const { result: report, seconds: cpu } = await cpuSecondsOf(pid, () => runTool("wrk", args));
  if (/Non-2xx|Socket errors/.test(report)) throw new Error(`not every request succeeded:\n${report}`);
  const requests = Number(/(\d+) requests in/.exec(report)?.[1] ?? Number.NaN);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(report)?.[1] ?? Number.NaN);
  return { value: requests / cpu, also: { requests_per_second: perSecond, latency_p99_ms: latencyMs(report, "99%") } };
}

const UNIT_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

function latencyMs(report: string, quantile: string): number {
  const [, value, unit = ""] = new RegExp(`${quantile}\\s+([\\d.]+)(us|ms|s)`).exec(report) ?? [];
  return Number(value) * (UNIT_MS[unit] ?? Number.NaN);
}

async function startNginx(directory: string, name: string, port: number, location: string, http: string): Promise<Server> {
  const home = join(directory, name);
  await mkdir(home);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${home}/${kind};`);
  const config = `
    daemon off; worker_processes 1; pid ${home}/pid; error_log stderr warn;
    events { worker_connections 1024; }
    http {
      access_log off; keepalive_requests 1000000000; default_type text/plain;
      ${temporary.join(" ")} ${http}
      server { listen 127.0.0.1:${port}; location / { ${location} } }
    }`;
  await writeFile(join(home, "nginx.conf"), config);
  const url = `http://127.0.0.1:${port}/`;
  return startTool("nginx", ["-p", home, "-c", join(home, "nginx.conf")], () => fetch(url, { signal: AbortSignal.timeout(500) }));
}
