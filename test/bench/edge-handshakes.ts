import type { Benchmark, Contender, Measurement } from "./benchmark.ts";
import { NGINX, SITE_HOST, type SiteProxy, startEngineSite } from "./edge-site.ts";
import type { HandshakeLoad } from "./handshake-load.ts";
import { measure, type VisitedProxy } from "./http-load.ts";
import { runScript } from "./program.ts";

const CONCURRENCY = 16;

/** Connections of TLS 1.3 that bring no request; certificates of the same kind on both sides. */
const handshakes = (row: Pick<Benchmark, "name" | "unit" | "targetRatio">, resume: boolean): Benchmark => ({
  better: "higher",
  tools: ["nginx", "openssl"],
  ...row,
  prepare: async ({ seconds, directory }) => {
    const { ours, proxies, close } = await startEngineSite(directory, { origin: "location / { return 204; }", peers: [NGINX] });
    const contender = ({ name, pid, https: url }: SiteProxy): Contender => ({ name, run: () => shake({ pid, url }, seconds, resume) });
    return { ours: contender(ours), peers: proxies.map(contender), close };
  },
});

export const edgeHandshakes = handshakes(
  { name: "edge-handshakes", unit: "full TLS 1.3 handshakes per CPU second, ECDSA P-256", targetRatio: { peer: "nginx", ratio: 0.8 } },
  false,
);

export const edgeResumptions = handshakes({ name: "edge-resumptions", unit: "resumed TLS 1.3 handshakes per CPU second" }, true);

const shake = (proxy: VisitedProxy, seconds: number, resume: boolean): Promise<Measurement> =>
  measure(proxy, async () => {
    const load: HandshakeLoad = { port: Number(proxy.url.port), host: SITE_HOST, concurrency: CONCURRENCY, seconds, resume };
    const done = Number(await runScript("handshake-load.ts", [JSON.stringify(load)]));
    return { requests: done, also: { handshakes_per_second: done / seconds } };
  });
