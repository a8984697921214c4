import { parentPort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { parseIp } from "#kernel/net/ip.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { listenBatchedUdp } from "#nameserver/listen/batched-udp.ts";
import { loadSystemSockets } from "#nameserver/listen/system-sockets.ts";

// A thread that may be terminated at any time: it answers datagrams with themselves.

const listener = await listenBatchedUdp({
  sockets: (await loadSystemSockets())!,
  address: parseIp("127.0.0.1")!,
  config: { host: "127.0.0.1", port: 0, reusePort: false },
  quickAnswer: () => 0,
  respond: (packet) => Buffer.from(packet),
  clock: systemClock,
  metrics: createMetrics(),
});
parentPort!.postMessage(listener.port);
