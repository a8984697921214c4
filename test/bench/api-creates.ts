import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { startBenchServer } from "./bench-server.ts";
import { cpuSecondsOf } from "./cpu-time.ts";
import type { CreateLoad, CreateLoadResult } from "./create-load.ts";
import { POWER_DNS_PATH, startPowerDns } from "./power-dns.ts";

const execute = promisify(execFile);

/** DNS records created through the API, each acknowledged once it is on disk. */
export const apiCreates: Benchmark = {
  name: "api-creates",
  unit: "acknowledged creates/s, 32 connections",
  better: "higher",
  target: 2000,
  tools: ["pdns_server", "pdns-backend-sqlite3"],
  prepare: async ({ seconds, directory }) => {
    const server = await startBenchServer();
    const { selvedge } = server;
    const { hostname, port, pathname } = new URL(selvedge.ready.api);
    const powerDns = await startPowerDns(join(directory, "powerdns"));
    const common = { connections: 32, seconds };
    let rounds = 0;
    return {
      ours: {
        name: "selvedge",
        run: async () => {
          const zoneName = `creates${rounds++}.example`;
          const path = `${pathname}/zones/${await server.createZone(zoneName)}/dns_records`;
          const secret = selvedge.ready.token ?? "";
          return create(selvedge.pid, { ...common, server: "selvedge", host: hostname, port: Number(port), path, zoneName, secret });
        },
      },
      // With SQLite it fails many concurrent creates, so it is also measured with one connection.
      peers: [common.connections, 1].map((connections) => ({
        name: connections === 1 ? "powerdns, 1" : "powerdns",
        run: async () => {
          const zoneName = `creates${rounds++}.example`;
          await powerDns.importZone(zoneName);
          const { host, port: apiPort, key } = powerDns.api;
          const path = `${POWER_DNS_PATH}/zones/${zoneName}.`;
          return create(powerDns.pid, { seconds, connections, server: "powerdns", host, port: apiPort, path, zoneName, secret: key });
        },
      })),
      close: async () => {
        await powerDns.stop();
        await selvedge.stop();
      },
    };
  },
};

async function create(pid: number, load: CreateLoad): Promise<Measurement> {
  const client = (): Promise<{ stdout: string }> =>
    execute(process.execPath, [join(import.meta.dirname, "create-load.ts"), JSON.stringify(load)]);
  const { result, seconds: cpu } = await cpuSecondsOf(pid, client);
  const done = JSON.parse(result.stdout) as CreateLoadResult;
  if (done.refused > 0 && load.server === "selvedge")
    throw new Error(`${done.refused} creates were refused, the first with\n${done.refusal}`);
  return {
    value: done.acknowledged / done.seconds,
    also: {
      refused: done.refused,
      latency_p50_ms: done.latency_p50_ms,
      latency_p99_ms: done.latency_p99_ms,
      creates_per_cpu_second: done.acknowledged / cpu,
    },
  };
}
