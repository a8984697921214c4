import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Benchmark } from "./benchmark.ts";
import { startBenchServer } from "./bench-server.ts";
import { cpuSecondsOf } from "./cpu-time.ts";
import type { CreateLoad, CreateLoadResult } from "./create-load.ts";

const execute = promisify(execFile);

/** DNS records created through the API, each acknowledged once it is on disk. */
export const apiCreates: Benchmark = {
  name: "api-creates",
  unit: "acknowledged creates/s, 32 connections",
  better: "higher",
  target: 2000,
  tools: [],
  prepare: async ({ seconds }) => {
    const server = await startBenchServer();
    const { selvedge } = server;
    const { hostname, port, pathname } = new URL(selvedge.ready.api);
    let rounds = 0;
    return {
      ours: {
        name: "selvedge",
        run: async () => {
          const zoneId = await server.createZone(`creates${rounds++}.example`);
          const load: CreateLoad = {
            host: hostname,
            port: Number(port),
            path: `${pathname}/zones/${zoneId}/dns_records`,
            token: selvedge.ready.token ?? "",
            connections: 32,
            seconds,
          };
          const client = (): Promise<{ stdout: string }> =>
            execute(process.execPath, [join(import.meta.dirname, "create-load.ts"), JSON.stringify(load)]);
          const { result, seconds: cpu } = await cpuSecondsOf(selvedge.pid, client);
          const done = JSON.parse(result.stdout) as CreateLoadResult;
          if (done.refused > 0) throw new Error(`${done.refused} creates were refused, the first with\n${done.refusal}`);
          return {
            value: done.acknowledged / done.seconds,
            also: {
              latency_p50_ms: done.latency_p50_ms,
              latency_p99_ms: done.latency_p99_ms,
              creates_per_cpu_second: done.acknowledged / cpu,
            },
          };
        },
      },
      close: async () => void (await selvedge.stop()),
    };
  },
};
