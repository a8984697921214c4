import { connect as connectHttp2 } from "node:http2";
import { once } from "node:events";
import type { Benchmark, Contender } from "./benchmark.ts";
import { startDelayRelay } from "./delay-relay.ts";
import { NGINX, SITE_HOST, type SiteProxy, startEngineSite } from "./edge-site.ts";

const UPLOAD_BYTES = 20_000_000;
const ROUND_TRIP_MS = 50;
/** Keeps nginx from writing a large body to a file. */
const NGINX_BODY = "client_max_body_size 64m; client_body_buffer_size 32m; proxy_request_buffering off;";

/** One upload of HTTP/2 over a path of 50 ms of round trip, from the connection's start to the answer. */
export const edgeDistance: Benchmark = {
  name: "edge-upload-50ms",
  unit: "ms for 20 MB up over HTTP/2 at 50 ms of round trip",
  better: "lower",
  tools: ["nginx", "openssl"],
  targetRatio: { peer: "nginx", ratio: 1.3 },
  prepare: async ({ directory }) => {
    const origin =
      "client_max_body_size 64m; client_body_buffer_size 32m; location / { proxy_pass http://unix:/nowhere; error_page 502 =200 /done; } location /done { return 200 done; }";
    const { ours, proxies, close } = await startEngineSite(directory, { origin, peers: [{ ...NGINX, server: NGINX_BODY }] });
    const contender = ({ name, https }: SiteProxy): Contender => ({ name, run: async () => ({ value: await upload(Number(https.port)) }) });
    return { ours: contender(ours), peers: proxies.map(contender), close };
  },
};

async function upload(port: number): Promise<number> {
  const relay = await startDelayRelay(port, ROUND_TRIP_MS / 2);
  const startedMs = performance.now();
  const session = connectHttp2(`https://127.0.0.1:${relay.port}`, { servername: SITE_HOST, rejectUnauthorized: false });
  try {
    const stream = session.request({ ":method": "POST", ":path": "/page", ":authority": SITE_HOST });
    stream.end(Buffer.alloc(UPLOAD_BYTES, "x"));
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    if (headers[":status"] !== 200) throw new Error(`the upload was answered with ${String(headers[":status"])}`);
    return performance.now() - startedMs;
  } finally {
    session.destroy();
    relay.close();
  }
}
