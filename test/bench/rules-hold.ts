import { succeed } from "../support/api.ts";
import { startBenchServer } from "./bench-server.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";

const PHASE = "http_request_firewall_custom";
const large = (n: number): string => `http.request.body.raw matches "${`([a-z]{1,30}${n}|b){1,20}`.repeat(3)}"`;
const rules = (count: number, expression: (n: number) => string): { readonly rules: readonly object[] } => ({
  rules: Array.from({ length: count }, (_, n) => ({ action: "block", expression: expression(n) })),
});

const SETS = {
  /** Refused at the bound of a ruleset. */
  large_1000: rules(1000, large),
  large_60: rules(60, large),
  equal_1000: rules(1000, () => large(1)),
  plain_1000: rules(1000, (n) => `http.request.uri.path eq "/${n}"`),
};

/** The longest wait of another caller while a ruleset is written: one thread was blocked for that long, or two in sequence. */
export const rulesHold: Benchmark = {
  name: "rules-hold",
  unit: "ms that another call waits at most, while a ruleset of up to 1,000 rules is written",
  better: "lower",
  target: 50,
  rounds: 1,
  tools: [],
  prepare: async () => {
    const { call, createZone, selvedge } = await startBenchServer();
    const zone = await createZone("compile.example");
    const path = `/zones/${zone}/rulesets/phases/${PHASE}/entrypoint`;
    const run = async (): Promise<Measurement> => {
      const also: Record<string, number> = {};
      for (const [name, body] of Object.entries(SETS)) {
        let isDone = false;
        const writing = call("PUT", path, body).finally(() => (isDone = true));
        let worstMs = 0;
        while (!isDone) {
          const from = performance.now();
          await succeed(call("GET", `/zones/${zone}`));
          worstMs = Math.max(worstMs, performance.now() - from);
        }
        await writing;
        also[`${name}_ms`] = worstMs;
      }
      return { value: Math.max(...Object.values(also)), also };
    };
    return { ours: { name: "selvedge", run }, close: () => selvedge.stop().then(() => undefined) };
  },
};
