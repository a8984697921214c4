import type { BenchContext, Benchmark, Contender } from "./benchmark.ts";
import { type BenchGateway, loadGateway, startGatewaySite } from "./gateway-site.ts";

const WARM_UP_REQUESTS = 20_000;

interface Chats {
  readonly stream: boolean;
  readonly connections: number;
  /** Between two events of a stream. */
  readonly pauseMs: number;
  readonly warmUpMsMax: number;
}

const FAST = { connections: 64, pauseMs: 0, warmUpMsMax: 40_000 };

const row = (spec: Pick<Benchmark, "name" | "unit" | "targetRatio">, chats: Chats): Benchmark => ({
  better: "higher",
  tools: ["wrk"],
  ...spec,
  prepare: async (context) => {
    const site = await startGatewaySite({ pauseMs: chats.pauseMs });
    for (const gateway of site.gateways) await warmUp(context, gateway, chats);
    const [ours, ...peers] = site.gateways.map((gateway): Contender => contender(context, gateway, chats));
    if (ours === undefined) throw new Error("no gateway");
    return { ours, peers, close: site.close };
  },
});

const contender = (context: BenchContext, gateway: BenchGateway, chats: Chats): Contender => ({
  name: gateway.name,
  run: () => loadGateway(context, gateway, chats),
});

/** Compilers run for thousands of requests; only steady work is measured. */
async function warmUp(context: BenchContext, gateway: BenchGateway, chats: Chats): Promise<void> {
  const endMs = performance.now() + chats.warmUpMsMax;
  for (let requests = 0; requests < WARM_UP_REQUESTS && performance.now() < endMs;) {
    const { also } = await loadGateway(context, gateway, chats);
    requests += (also?.["requests_per_second"] ?? Number.NaN) * context.seconds;
  }
}

/** Our gateway authenticates each request and stores a row with both bodies; the peer stores nothing. One core each. */
export const gatewayRequests = row(
  {
    name: "gateway-requests",
    unit: "chats per CPU second of the gateway, rows and bodies kept",
    targetRatio: { peer: "portkey", ratio: 8 },
  },
  { ...FAST, stream: false },
);

export const gatewayStreams = row(
  {
    name: "gateway-streams",
    unit: "streamed chats of 50 events per CPU second of the gateway, rows and bodies kept",
    targetRatio: { peer: "portkey", ratio: 4 },
  },
  { ...FAST, stream: true },
);

/** The first work of new processes: compilers and heaps have not seen it. A warmed gateway is in gateway-streams. */
const FIRST_SECONDS = 10;
export const gatewayFirstStreams: Benchmark = {
  name: "gateway-first-streams",
  unit: "streamed chats of 50 events per CPU second of a gateway's first ten seconds, rows and bodies kept",
  better: "higher",
  targetRatio: { peer: "portkey", ratio: 4 },
  tools: ["wrk"],
  rounds: 3,
  isFirst: true,
  prepare: async (context) => {
    const first = (name: string): Contender => ({
      name,
      run: async () => {
        const site = await startGatewaySite({ hasPeer: name !== "selvedge" });
        try {
          const gateway = site.gateways.find((one) => one.name === name);
          if (gateway === undefined) throw new Error(`${name} did not start`);
          return await loadGateway({ ...context, seconds: FIRST_SECONDS }, gateway, { ...FAST, stream: true });
        } finally {
          await site.close();
        }
      },
    });
    return { ours: first("selvedge"), peers: [first("portkey")], close: async () => undefined };
  },
};

/** As models write: each event is a separate read and write. */
export const gatewayPacedStreams = row(
  {
    name: "gateway-paced-streams",
    unit: "streamed chats of 50 events, 10 ms apart, per CPU second of the gateway, rows and bodies kept",
  },
  { stream: true, connections: 128, pauseMs: 10, warmUpMsMax: 15_000 },
);
