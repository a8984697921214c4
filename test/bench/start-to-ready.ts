import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSelvedge } from "../support/selvedge.ts";
import type { Benchmark } from "./benchmark.ts";

/** From the process's start to its ready line, with a used state directory; `first_ms` is with an empty one. */
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
        const dataDir = await mkdtemp(join(tmpdir(), "selvedge-"));
        try {
          const first = await startIn(dataDir);
          const again = await startIn(dataDir);
          return { value: again.ms, also: { took_ms: again.tookMs, first_ms: first.ms } };
        } finally {
          await rm(dataDir, { recursive: true, force: true });
        }
      },
    },
    close: async () => {},
  }),
};

/** With the Core Rule Set of this machine, as an operator's start has it. */
async function startIn(dataDir: string): Promise<{ readonly ms: number; readonly tookMs: number }> {
  const started = performance.now();
  const selvedge = await startSelvedge({ dataDir, env: { SELVEDGE_WAF_CRS_DIRECTORY: undefined } });
  const ms = performance.now() - started;
  await selvedge.stop();
  return { ms, tookMs: selvedge.ready.took_ms };
}
