import { once } from "node:events";
import { connect } from "node:net";
import type { Benchmark, Contender, Measurement } from "./benchmark.ts";
import { NGINX, SITE_HOST, type SiteProxy, startEngineSite } from "./edge-site.ts";
import type { HandshakeLoad } from "./handshake-load.ts";
import { measure, type VisitedProxy } from "./http-load.ts";
import { freePort, pinToFirstCpu, runScript, type Server, startScript } from "./program.ts";

const CONCURRENCY = 16;

/**
 * TLS 1.3 connections without a request, with certificates of the same kind on all sides. The second peer is a Node.js
 * server that does nothing: the edge cannot gain the rest of the distance to nginx.
 */
const handshakes = (row: Pick<Benchmark, "name" | "unit" | "targetRatio">, resume: boolean): Benchmark => ({
  better: "higher",
  tools: ["nginx", "openssl"],
  ...row,
  prepare: async ({ seconds, directory }) => {
    const { ours, proxies, close } = await startEngineSite(directory, { origin: "location / { return 204; }", peers: [NGINX] });
    const bare = await startBare(directory);
    const contender = ({ name, pid, https: url }: Omit<SiteProxy, "http">): Contender => ({
      name,
      run: () => shake({ pid, url }, seconds, resume),
    });
    return { ours: contender(ours), peers: [...proxies, bare].map(contender), close: () => bare.stop().then(close) };
  },
});

export const edgeHandshakes = handshakes(
  { name: "edge-handshakes", unit: "full TLS 1.3 handshakes per CPU second, ECDSA P-256", targetRatio: { peer: "nginx", ratio: 0.8 } },
  false,
);

export const edgeResumptions = handshakes({ name: "edge-resumptions", unit: "resumed TLS 1.3 handshakes per CPU second" }, true);

/** With the certificate that nginx has. */
async function startBare(directory: string): Promise<Server & Omit<SiteProxy, "http">> {
  const port = await freePort();
  const server = await startScript("bare-tls.ts", [String(port), directory], async () => {
    const socket = connect({ port, host: "127.0.0.1" });
    await once(socket, "connect");
    socket.destroy();
  });
  await pinToFirstCpu(server.pid);
  return { ...server, name: "node:tls", https: new URL(`https://127.0.0.1:${port}/`) };
}

const shake = (proxy: VisitedProxy, seconds: number, resume: boolean): Promise<Measurement> =>
  measure(proxy, async () => {
    const load: HandshakeLoad = { port: Number(proxy.url.port), host: SITE_HOST, concurrency: CONCURRENCY, seconds, resume };
    const done = Number(await runScript("handshake-load.ts", [JSON.stringify(load)]));
    return { requests: done, also: { handshakes_per_second: done / seconds } };
  });
