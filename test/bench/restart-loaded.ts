import { loadedSite } from "../support/loaded-site.ts";
import type { Benchmark } from "./benchmark.ts";

/** Failed requests of all planes over a restart, with clients that ask without a pause. */
export const restartLoaded: Benchmark = {
  name: "restart-loaded",
  unit: "failed requests",
  better: "lower",
  target: 0,
  tools: [],
  rounds: 3,
  prepare: async () => {
    const site = await loadedSite();
    return {
      ours: {
        name: "selvedge",
        run: async () => {
          const load = site.load();
          await site.restart();
          const results = await load.stop();
          return {
            value: results.reduce((sum, { failures }) => sum + failures.length, 0),
            also: Object.fromEntries(
              results.flatMap(({ kind, done, slowestMs }) => [
                [`${kind}: requests`, done],
                [`${kind}: slowest_ms`, slowestMs],
              ]),
            ),
          };
        },
      },
      close: async () => {
        await site.selvedge.stop();
        await site.close();
      },
    };
  },
};
