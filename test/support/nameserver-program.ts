import { createMetrics } from "#kernel/process/metrics.ts";
import type { NameserverConfig } from "#nameserver/config.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import { createRateTable } from "#nameserver/limits/rate-limit.ts";
import type { RateLimitConfig } from "#nameserver/config.ts";
import { loadSystemSockets } from "#nameserver/listen/system-sockets.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "./nameserver.ts";

/** Options of the program, as JSON in its first argument. */
export interface NameserverProgram {
  readonly ops: readonly Op[];
  readonly config: Partial<NameserverConfig>;
  readonly rateLimit: Omit<RateLimitConfig, "table">;
}

/** Prints the port on which it serves, and its counters when its standard input ends. Lives no longer than this. */
const LIFE_MS = 120_000;

const { ops, config, rateLimit } = JSON.parse(process.argv[2] as string) as NameserverProgram;
const metrics = createMetrics();
const nameserver = createNameserver({
  ...NAMESERVER_PARTS,
  replica: createMemoryReplica(ops),
  metrics,
  config: nameserverConfig({ ...config, rateLimit: { ...rateLimit, table: createRateTable() } }),
  sockets: await loadSystemSockets(),
});
const { udp } = await nameserver.listen();
console.log(JSON.stringify({ port: udp }));
setTimeout(() => process.exit(1), LIFE_MS).unref();
process.stdin.resume().on("end", () => {
  const counted = metrics.samples().filter((sample) => sample.value > 0);
  console.log(
    JSON.stringify(Object.fromEntries(counted.map(({ name, labels, value }) => [[name, ...Object.values(labels)].join(" "), value]))),
  );
  process.exit(0);
});
