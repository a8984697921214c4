import { request } from "node:http";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { chatBody, startGatewaySite, type Target } from "./gateway-site.ts";
import { median } from "./statistics.ts";

const STREAMS = 300;
const PAUSE_MS = 2;

/** Time that an idle gateway adds until the first event of a stream: pairs through it and without it. */
export const gatewayFirstToken: Benchmark = {
  name: "gateway-first-token",
  unit: "ms added at p50 until the first event of a stream",
  better: "lower",
  target: 1,
  tools: [],
  prepare: async () => {
    const site = await startGatewaySite({ pauseMs: PAUSE_MS });
    const [ours, ...peers] = site.gateways.map((gateway) => ({ name: gateway.name, run: () => added(gateway, site.direct) }));
    if (ours === undefined) throw new Error("no gateway");
    return { ours, peers, close: site.close };
  },
};

async function added(gateway: Target, direct: Target): Promise<Measurement> {
  const through: number[] = [];
  const beside: number[] = [];
  for (let i = 0; i < STREAMS; i++) {
    through.push(await firstEventMs(gateway));
    beside.push(await firstEventMs(direct));
  }
  const p99 = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
  return { value: median(through) - median(beside), also: { direct_p50_ms: median(beside), added_p99_ms: p99(through) - p99(beside) } };
}

/** The client disconnects after the first event. */
function firstEventMs({ url, headers }: Target): Promise<number> {
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const req = request(url, { method: "POST", headers }, (res) => {
      res.once("data", () => {
        resolve(performance.now() - startMs);
        res.destroy();
      });
    });
    req.once("error", reject);
    req.end(chatBody(true));
  });
}
