import { execFile } from "node:child_process";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { promisify } from "node:util";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { MIXED_HOST, type MixedSite, startMixedSite } from "./mixed-site.ts";
import { residentBytes } from "./resident-bytes.ts";

const execute = promisify(execFile);
const CONNECTIONS = 10_000;
const AT_ONCE = 50;

/** Ten thousand TLS clients that each sent one request and keep the connection open, and the memory of ten thousand certificates. */
export const edgeIdle: Benchmark = {
  name: "edge-idle",
  unit: "KB of memory for each of 10,000 idle TLS connections",
  better: "lower",
  tools: [],
  prepare: async () => {
    const site = await startMixedSite(["--edge-idle-timeout-seconds", "3600"]);
    // One-time allocations are not counted. Memory of an earlier round is, because the system has not got it back.
    (await visitor(Number(site.https.port))).destroy();
    const before = residentBytes(site.selvedge.pid);
    return { ours: { name: "selvedge", run: () => measure(site, before) }, close: site.close };
  },
};

async function measure(site: MixedSite, before: number): Promise<Measurement> {
  const { pid } = site.selvedge;
  const port = Number(site.https.port);
  const open: TLSSocket[] = [];
  try {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let i = 0; i < CONNECTIONS / AT_ONCE; i++) open.push(await visitor(port));
      }),
    );
    const each = (residentBytes(pid) - before) / open.length / 1000;
    const { stdout } = await execute(process.execPath, ["--expose-gc", join(import.meta.dirname, "certificate-memory.ts")]);
    return { value: each, also: { connections: open.length, ...(JSON.parse(stdout) as Record<string, number>) } };
  } finally {
    for (const socket of open) socket.destroy();
  }
}

/** A connection that was served once. */
function visitor(port: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", servername: MIXED_HOST, rejectUnauthorized: false });
    socket.once("error", reject);
    socket.write(`GET / HTTP/1.1\r\nHost: ${MIXED_HOST}\r\n\r\n`);
    socket.once("data", () => resolve(socket));
  });
}
