import { UNSHARED } from "#kernel/net/shared-limits.ts";
import { NO_RULE_MATERIAL } from "#rules/managed/rule-material.ts";
import { createCounterMemory } from "#rules/rate-limit/counter-table.ts";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { MessageChannel, Worker } from "node:worker_threads";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { machineMs, systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { EDGE_LIMITS } from "#edge/config.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { createBodyTee, type BodyTee } from "#edge/detection/body-tee.ts";
import { createEdge } from "#edge/edge.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";
import { TWENTY_RULES } from "./twenty-rules.ts";

// The edge alone in a separate process, with rows and events discarded, to measure the cost of proxying only. Arguments:
// its ports for HTTP and HTTPS, the proxied name, its zone, the origin's port, and `rules` for the twenty rules, or
// `detection` for a detector that scans this zone and not another one.

const [httpPort = "", httpsPort = "", host = "", zone = "", originPort = "", rules = ""] = process.argv.slice(2);
const sealer = createSealer(randomBytes(32));
const issued = await createLocalCa({ root: await createRoot(systemClock), clock: systemClock }).issue([host]);
const certificate: Op = {
  kind: "certificate",
  id: "certificate",
  value: {
    zone_id: "zone",
    hosts: [host],
    chain: issued.chain,
    private_key: sealer.seal(issued.privateKey, "certificate:certificate"),
    not_after: issued.notAfter,
  },
};

const rulesets =
  rules === "rules" ? Object.entries(TWENTY_RULES).map(([phase, list]) => rulesetOp(phase, "zone", "zone", phase, list)) : [];

const EXECUTE = { action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } };
const detection: readonly Op[] = [
  rulesetOp("detection", "zone", "zone", "http_response_firewall_managed", [EXECUTE]),
  zoneOp("other", `other-${zone}`),
  recordOp("other-record", "other", `www.other-${zone}`, "A", "127.0.0.1"),
];
const metrics = createMetrics();
const socketCalls = await loadSocketCalls();

async function startDetection(): Promise<Pick<BodyTee, "takes" | "begin">> {
  const worker = new Worker(new URL("detection-tap-reader.ts", import.meta.url));
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(port2, [port2]);
  await once(worker, "message");
  worker.unref();
  return createBodyTee({ port: port1, metrics, placeIn: socketCalls?.placeIn });
}

const edge = createEdge({
  sharedLimits: UNSHARED,
  replica: createMemoryReplica([
    ...[zoneOp("zone", zone), recordOp("record", "zone", host, "A", "127.0.0.1"), certificate, ...rulesets],
    ...(rules === "detection" ? detection : []),
  ]),
  events: { pushRequest: () => undefined },
  onTunnels: () => undefined,
  onSightings: () => undefined,
  tap: rules === "detection" ? await startDetection() : { takes: () => false, begin: () => null },
  clock: systemClock,
  metrics,
  socketCalls,
  sealer,
  clearanceKey: new Uint8Array(32),
  config: {
    host: "127.0.0.1",
    httpPort: Number(httpPort),
    httpsPort: Number(httpsPort),
    workers: 1,
    reusePort: false,
    vendorPrefix: "svc",
    originPort: Number(originPort),
    originAllow: [],
    counters: createCounterMemory(4096, machineMs()),
    cacheMemoryBytesMax: 1_000_000,
    cacheDisk: null,
    places: [],
    ruleMaterial: NO_RULE_MATERIAL,
    resolvers: [],
    ticketKeys: [],
    doh: { hosts: [], port: 0 },
    gatewayPort: 0,
    imagesPort: 0,
    proxyProtocolFrom: [],
    trustedProxies: { networks: [], field: "x-forwarded-for" },
    limits: EDGE_LIMITS,
  },
  originRoots: [],
  onError: (error) => console.error(error),
  warn: (message) => console.error(message),
});
process.once("SIGTERM", () => void edge.close(0));
await edge.listen();
