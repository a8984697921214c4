import { randomBytes } from "node:crypto";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/metrics.ts";
import { createSealer } from "#kernel/seal.ts";
import { EDGE_LIMITS } from "#edge/config.ts";
import { createEdge } from "#edge/edge.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { recordOp, zoneOp } from "#edge/test-entries.ts";

// The edge by itself, in a process of its own, whose rows and events go nowhere: what it costs to proxy, and no more.
// Arguments: its port, the proxied name, the zone of that, and the origin's port.

const [port = "", host = "", zone = "", originPort = ""] = process.argv.slice(2);

const edge = createEdge({
  replica: createMemoryReplica([zoneOp("zone", zone), recordOp("record", "zone", host, "A", "127.0.0.1")]),
  events: { push: () => undefined },
  tap: { begin: () => null },
  clock: systemClock,
  metrics: createMetrics(),
  sealer: createSealer(randomBytes(32)),
  config: {
    host: "127.0.0.1",
    httpPort: Number(port),
    httpsPort: 0,
    reusePort: false,
    vendorPrefix: "svc",
    originPort: Number(originPort),
    originAllow: [],
    cacheMemoryBytesMax: 1_000_000,
    resolvers: [],
    ticketKeys: [],
    doh: { hosts: [], port: 0 },
    proxyProtocolFrom: [],
    limits: EDGE_LIMITS,
  },
  originRoots: [],
  onError: (error) => console.error(error),
});
process.once("SIGTERM", () => void edge.close(0));
await edge.listen();
