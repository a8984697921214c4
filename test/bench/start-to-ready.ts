import { startSelvedge } from "../support/selvedge.ts";
import type { Benchmark } from "./benchmark.ts";

/** From the process's start to its ready line, each time with an empty state directory. */
export const startToReady: Benchmark = {
  name: "start-to-ready",
  unit: "ms",
  better: "lower",
  target: 700,
  tools: [],
  prepare: async () => ({
    ours: {
      name: "selvedge",
      run: async () => {
        const started = performance.now();
        const selvedge = await startSelvedge();
        const value = performance.now() - started;
        await selvedge.stop();
        return { value, also: { took_ms: selvedge.ready.took_ms } };
      },
    },
    close: async () => {},
  }),
};
