import { NO_RULE_MATERIAL } from "#rules/managed/rule-material.ts";
import { machineMs } from "#kernel/clock.ts";
import { createCounterMemory } from "#rules/rate-limit/counter-table.ts";
import { EDGE_LIMITS, type EdgeConfig } from "#edge/config.ts";

/** A separate edge on free loopback ports, without a disk cache. */
export const testEdgeConfig = (): EdgeConfig => ({
  host: "127.0.0.1",
  httpPort: 0,
  httpsPort: 0,
  workers: 1,
  reusePort: false,
  vendorPrefix: "svc",
  originPort: 0,
  originAllow: [],
  resolvers: [],
  doh: { hosts: [], port: 0 },
  gatewayPort: 0,
  imagesPort: 0,
  ticketKeys: [],
  proxyProtocolFrom: [],
  trustedProxies: { networks: [], field: "x-forwarded-for" },
  counters: createCounterMemory(4096, machineMs()),
  cacheMemoryBytesMax: 4_000_000,
  cacheDisk: null,
  places: [],
  ruleMaterial: NO_RULE_MATERIAL,
  limits: EDGE_LIMITS,
});
