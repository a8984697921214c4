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
 * Memory of all planes of the server together, right after the load and without a forced collection; the peer, which
 * stores no logs and has no other planes, is measured in the same way. Counts VmRSS like `top` and `ps`: all pages of
 * the process, including 40 MB of Node.js and libraries, which processes of the same file share and the kernel can take
 * back (`of_files_mb`). PSS would depend on the number of other Node.js processes, and operators' tools do not show
 * anonymous memory first.
 */
export const gatewayMemory: Benchmark = {
  name: "gateway-memory",
  unit: "MB of memory after 50,000 requests, rows and bodies kept",
  better: "lower",
  target: 200,
  tools: ["wrk"],
  isOnce: true,
  prepare: async (context) => {
    const site = await startGatewaySite();
    const [ours, ...peers] = site.gateways.map((gateway) => ({ name: gateway.name, run: () => afterFirst(context, gateway) }));
    if (ours === undefined) throw new Error("no gateway");
    return { ours, peers, close: site.close };
  },
};

/** The same for our server only, ten times as long: a minute and a half on an idle machine. */
export const gatewayMemoryLong: Benchmark = {
  name: "gateway-memory-long",
  unit: "MB of memory after 500,000 requests, rows and bodies kept",
  better: "lower",
  target: 200,
  tools: ["wrk"],
  isOnce: true,
  prepare: async (context) => {
    const site = await startGatewaySite({ hasPeer: false });
    const gateway = ourGateway(site);
    const run = async (): Promise<Measurement> => {
      const first = await afterFirst(context, gateway);
      const seen = [first.value];
      for (let requests = first.also.requests; requests < LAST; requests += await someRequests(context, gateway))
        seen.push(residentBytes(gateway.pid) / MEGABYTE);
      const { value, also } = memoryOf(gateway);
      return { value, also: { ...also, after_50000_mb: first.value, most_mb: Math.max(...seen, value) } };
    };
    return { ours: { name: "selvedge", run }, close: site.close };
  },
};

interface Memory {
  readonly value: number;
  readonly also: { readonly of_files_mb: number; readonly anonymous_mb: number };
}

function memoryOf({ pid }: BenchGateway): Memory {
  const [whole, ofFiles] = [residentBytes(pid), residentFileBytes(pid)];
  return { value: whole / MEGABYTE, also: { of_files_mb: ofFiles / MEGABYTE, anonymous_mb: (whole - ofFiles) / MEGABYTE } };
}

async function afterFirst(
  context: BenchContext,
  gateway: BenchGateway,
): Promise<Memory & { readonly also: { readonly requests: number; readonly before_mb: number } }> {
  const before_mb = residentBytes(gateway.pid) / MEGABYTE;
  let requests = 0;
  while (requests < FIRST) requests += await someRequests(context, gateway);
  const { value, also } = memoryOf(gateway);
  return { value, also: { ...also, before_mb, requests } };
}

async function someRequests(context: BenchContext, gateway: BenchGateway): Promise<number> {
  const { also } = await loadGateway(context, gateway, { connections: 64, stream: false });
  const requests = (also?.["requests_per_second"] ?? Number.NaN) * context.seconds;
  if (!(requests > 0)) throw new Error("nothing was answered");
  return requests;
}

/** Ten thousand open idle streams, or fewer if the machine allows fewer open files. */
export const gatewayIdleStreams: Benchmark = {
  name: "gateway-idle-streams",
  unit: "KB of memory for each of 10,000 streams in which nothing happens",
  better: "lower",
  tools: [],
  prepare: async () => {
    const site = await startGatewaySite({ hasPeer: false, pauseMs: 3_600_000 });
    const gateway = ourGateway(site);
    (await openStream(gateway))();
    // Measured before the first round, whose memory later rounds use again.
    const before = residentBytes(gateway.pid);
    return { ours: { name: "selvedge", run: () => idle(gateway, before) }, close: site.close };
  },
};

/** Each stream takes a descriptor to the client and one to the provider; the rest are for the server. */
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

/** Resolves at the first event with a function that closes the stream. */
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
