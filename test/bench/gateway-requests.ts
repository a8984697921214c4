import type { BenchContext, Benchmark, Contender } from "./benchmark.ts";
import { loadGateway, startGatewaySite } from "./gateway-site.ts";

const CONNECTIONS = 64;

const row = (spec: Pick<Benchmark, "name" | "unit" | "targetRatio">, stream: boolean): Benchmark => ({
  better: "higher",
  tools: ["wrk"],
  ...spec,
  prepare: async (context) => {
    const site = await startGatewaySite();
    const [ours, ...peers] = site.gateways.map((gateway): Contender => contender(context, gateway, stream));
    if (ours === undefined) throw new Error("no gateway");
    return { ours, peers, close: site.close };
  },
});

const contender = (context: BenchContext, gateway: Parameters<typeof loadGateway>[1], stream: boolean): Contender => ({
  name: gateway.name,
  run: () => loadGateway(context, gateway, { connections: CONNECTIONS, stream }),
});

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
