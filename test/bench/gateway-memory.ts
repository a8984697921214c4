import { readFileSync } from "node:fs";
import { request } from "node:http";
import type { BenchContext, Benchmark, Measurement } from "./benchmark.ts";
import { type BenchGateway, chatBody, type GatewaySite, loadGateway, startGatewaySite } from "./gateway-site.ts";
import { residentBytes, residentFileBytes } from "./resident-bytes.ts";

const MEGABYTE = 1_000_000;
const FIRST = 50_000;
const LAST = 500_000;
const STREAMS = 10_000;
const AT_ONCE = 100;
const FILES_ELSEWHERE = 1_000;

const ourGateway = ({ gateways }: GatewaySite): BenchGateway => {
  const [ours] = gateways;
  if (ours === undefined) throw new Error("no gateway");
  return ours;
};

/**
 * All planes of the server together, over half a million logged requests; the peer, which keeps no logs and has no other planes,
 * after as many as ours has answered when it is first looked at. One round says all.
 */
export const gatewayMemory: Benchmark = {
  name: "gateway-memory",
  unit: "MB of memory after 50,000 requests, rows and bodies kept",
  better: "lower",
  target: 200,
  tools: ["wrk"],
  prepare: async (context) => {
    const site = await startGatewaySite();
    return {
      ours: { name: "selvedge", run: () => grown(context, site) },
      peers: site.gateways.slice(1).map((peer) => ({ name: peer.name, run: () => afterFirst(context, peer) })),
      close: site.close,
    };
  },
};

async function afterFirst(context: BenchContext, gateway: BenchGateway): Promise<Measurement> {
  for (let requests = 0; requests < FIRST; requests += await someRequests(context, gateway));
  return { value: residentBytes(gateway.pid) / MEGABYTE, also: { of_files_mb: residentFileBytes(gateway.pid) / MEGABYTE } };
}

async function someRequests(context: BenchContext, gateway: BenchGateway): Promise<number> {
  const { also } = await loadGateway(context, gateway, { connections: 64, stream: false });
  return (also?.["requests_per_second"] ?? Number.NaN) * context.seconds;
}

async function grown(context: BenchContext, site: GatewaySite): Promise<Measurement> {
  const gateway = ourGateway(site);
  const start = residentBytes(gateway.pid) / MEGABYTE;
  let requests = 0;
  let first = Number.NaN;
  let ofFiles = Number.NaN;
  while (requests < LAST) {
    requests += await someRequests(context, gateway);
    if (!Number.isNaN(first) || requests < FIRST) continue;
    first = residentBytes(gateway.pid) / MEGABYTE;
    ofFiles = residentFileBytes(gateway.pid) / MEGABYTE;
  }
  const after_500000_mb = residentBytes(gateway.pid) / MEGABYTE;
  return { value: first, also: { of_files_mb: ofFiles, before_mb: start, after_500000_mb } };
}

/** Ten thousand streams that have begun and in which nothing happens; fewer where the machine allows fewer open files. */
export const gatewayIdleStreams: Benchmark = {
  name: "gateway-idle-streams",
  unit: "KB of memory for each of 10,000 streams in which nothing happens",
  better: "lower",
  tools: [],
  prepare: async () => {
    const site = await startGatewaySite({ hasPeer: false, pauseMs: 3_600_000 });
    const gateway = ourGateway(site);
    (await openStream(gateway))();
    // Before the first turn, whose memory the later ones use again.
    const before = residentBytes(gateway.pid);
    return { ours: { name: "selvedge", run: () => idle(gateway, before) }, close: site.close };
  },
};

/** Each takes a descriptor to the client and one to the provider; others are for the rest of the server. */
function streamsPossible(pid: number): number {
  const files = Number(/^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "latin1"))?.[1]);
  return Math.min(STREAMS, Math.floor((files - FILES_ELSEWHERE) / 2));
}

async function idle(gateway: BenchGateway, before: number): Promise<Measurement> {
  const streams = streamsPossible(gateway.pid);
  const leave: (() => void)[] = [];
  try {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let i = 0; i < streams / AT_ONCE; i++) leave.push(await openStream(gateway));
      }),
    );
    return { value: (residentBytes(gateway.pid) - before) / leave.length / 1000, also: { streams: leave.length } };
  } finally {
    for (const one of leave) one();
  }
}

/** Resolves at the first event, with how to leave the stream. */
function openStream({ url, headers }: BenchGateway): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method: "POST", headers, agent: false }, (res) => {
      if (res.statusCode !== 200) reject(new Error(`a stream was answered ${res.statusCode}`));
      res.once("data", () => {
        req.off("error", reject).on("error", () => undefined);
        resolve(() => req.destroy());
      });
      res.on("error", () => undefined);
    });
    req.once("error", reject);
    req.end(chatBody(true));
  });
}
