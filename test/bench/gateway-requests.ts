import type { BenchContext, Benchmark, Contender } from "./benchmark.ts";
import { type BenchGateway, loadGateway, startGatewaySite } from "./gateway-site.ts";

const CONNECTIONS = 64;
const WARM_UP_REQUESTS = 20_000;
const WARM_UP_MS_MAX = 40_000;

const row = (spec: Pick<Benchmark, "name" | "unit" | "targetRatio">, stream: boolean): Benchmark => ({
  better: "higher",
  tools: ["wrk"],
  ...spec,
  prepare: async (context) => {
    const site = await startGatewaySite();
    for (const gateway of site.gateways) await warmUp(context, gateway, stream);
    const [ours, ...peers] = site.gateways.map((gateway): Contender => contender(context, gateway, stream));
    if (ours === undefined) throw new Error("no gateway");
    return { ours, peers, close: site.close };
  },
});

const contender = (context: BenchContext, gateway: BenchGateway, stream: boolean): Contender => ({
  name: gateway.name,
  run: () => loadGateway(context, gateway, { connections: CONNECTIONS, stream }),
});

/** Compilers go on for thousands of requests, the longer the more there is to compile: steady work is what is measured. */
async function warmUp(context: BenchContext, gateway: BenchGateway, stream: boolean): Promise<void> {
  const endMs = performance.now() + WARM_UP_MS_MAX;
  for (let requests = 0; requests < WARM_UP_REQUESTS && performance.now() < endMs;) {
    const { also } = await loadGateway(context, gateway, { connections: CONNECTIONS, stream });
    requests += (also?.["requests_per_second"] ?? Number.NaN) * context.seconds;
  }
}

/** Ours authenticates each request and keeps a row with both bodies; the peer keeps nothing. One core each. */
export const gatewayRequests = row(
  {
    name: "gateway-requests",
    unit: "chats per CPU second of the gateway, rows and bodies kept",
    targetRatio: { peer: "portkey", ratio: 8 },
  },
  false,
);

export const gatewayStreams = row(
  {
    name: "gateway-streams",
    unit: "streamed chats of 50 events per CPU second of the gateway, rows and bodies kept",
    targetRatio: { peer: "portkey", ratio: 4 },
  },
  true,
);
