import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { succeed } from "../support/api.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { type BenchServer, startBenchServer } from "./bench-server.ts";
import { runTool } from "./program.ts";
import { residentBytes } from "./resident-bytes.ts";
import type { PacketLoad, PacketLoadResult } from "./packet-load.ts";

const execute = promisify(execFile);
const PACKETS = 10_000_000;
const PACKETS_AT_ONCE = 250_000;
const ZONE = "fuzz.example";

/**
 * Sends ten million packets with every kind of error. Fails if the process ends, throws, or does not answer a valid
 * query afterwards; the value is the memory growth after the first tenth.
 */
export const dnsFuzz: Benchmark = {
  name: "dns-fuzz-10m",
  unit: "MB of memory more after 10,000,000 random packets than after the first tenth",
  better: "lower",
  tools: ["dig"],
  prepare: async () => {
    const server = await startBenchServer(["--dns-rate-limit-per-second", "0"]);
    const zoneId = await server.createZone(ZONE);
    await succeed(server.call("POST", `/zones/${zoneId}/dns_records`, { type: "A", name: "www", content: "192.0.2.1", ttl: 300 }));
    await succeed(server.call("POST", `/zones/${zoneId}/dns_records`, { type: "TXT", name: "*", content: '"wildcard"', ttl: 300 }));
    let seed = 1;
    return {
      ours: { name: "selvedge", run: () => flood(server, () => seed++) },
      close: async () => void (await server.selvedge.stop()),
    };
  },
};

async function flood(server: BenchServer, nextSeed: () => number): Promise<Measurement> {
  const { ready, pid } = server.selvedge;
  const [host = "", port = ""] = ready.dns.split(":");
  const before = await counts(server);
  let taken = 0;
  let early = 0;
  const started = performance.now();
  // Packets that the kernel drops because the server is busy do not count.
  while (taken < PACKETS) {
    const load: PacketLoad = { host, port: Number(port), packets: PACKETS_AT_ONCE, seed: nextSeed(), zone: ZONE };
    const { stdout } = await execute(process.execPath, [join(import.meta.dirname, "packet-load.ts"), JSON.stringify(load)]);
    const { answered } = JSON.parse(stdout) as PacketLoadResult;
    if (answered === 0) throw new Error("the nameserver does not answer any more");
    taken = (await counts(server)).queries - before.queries;
    if (early === 0 && taken >= PACKETS / 10) early = residentBytes(pid);
  }
  const seconds = (performance.now() - started) / 1000;
  const after = await counts(server);
  if (after.failures > before.failures) throw new Error(`${after.failures - before.failures} packets made the nameserver fail`);
  const answer = await runTool("dig", [`@${host}`, "-p", port, `www.${ZONE}`, "A", "+short"]);
  if (answer.trim() !== "192.0.2.1") throw new Error(`the nameserver answers ${JSON.stringify(answer)}`);
  const late = residentBytes(pid);
  return { value: (late - early) / 1e6, also: { packets: taken, packets_per_second: taken / seconds, rss_mb: late / 1e6 } };
}

async function counts({ selvedge }: BenchServer): Promise<{ queries: number; failures: number }> {
  const text = await (await fetch(`${new URL(selvedge.ready.api).origin}/metrics`)).text();
  const figure = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? Number.NaN);
  return {
    queries: figure(/^selvedge_dns_queries_total\{[^}]*transport="udp"[^}]*\} (\d+)/m),
    failures: figure(/^selvedge_dns_internal_errors_total(?:\{[^}]*\})? (\d+)/m),
  };
}
