import { parentPort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { workOfThread } from "#kernel/process/worker-bootstrap.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { growHeapWhenCollectedOften } from "#kernel/process/heap-growth.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { readPlaneSealer } from "#kernel/crypto/plane-keys.ts";
import { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { openReplica } from "#snapshot/replica.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { leasedLimits } from "#wire/redis/leases.ts";
import { createLogJournal } from "#events/logs/journal.ts";
import { createEventSink } from "#events/write/sink.ts";
import type { GatewayWorkerData } from "./config.ts";
import { createGateway } from "./gateway.ts";
import { createSecretMask } from "./logs/secret-mask.ts";

/** The thread of the gateway plane: opens its copy of the snapshot, listens, and answers the main thread. */
if (parentPort === null) throw new Error("gateway/worker.ts runs as a worker thread");
const work = workOfThread<GatewayWorkerData>();
// It takes a tenth of a second, in which the main thread still loads.
const mask = createSecretMask();
const data = await work;
const voice = createWorkerChannel(parentPort);

const metrics = createMetrics();
const events = createEventSink({ port: data.events, metrics });
const logs = createLogJournal({ directory: data.logSegments, metrics });
const replica = await openReplica({
  port: createMessagePortFeed(data.feed),
  name: data.name,
  kinds: ["gateway", "token", "provider_key", "custom_provider", "gateway_route", "gateway_domain", "dlp_profile"],
  lastGoodPath: data.lastGoodPath,
  log: voice.log,
});
const sealer = readPlaneSealer(data.sealKeyPath);
const sharedLimits = leasedLimits(data.config.sharedCounters, { sealer, clock: systemClock, metrics, subject: "gateway" });
const gateway = createGateway({
  sharedLimits,
  replica,
  events,
  logs,
  mask,
  sealer,
  socketCalls: await loadSocketCalls(voice.notNative),
  clock: systemClock,
  metrics,
  onDefaultGateway: voice.defaultGatewayUsed,
  onError: (error) =>
    voice.log("error", "the gateway closed a connection after an internal error", {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }),
  config: data.config,
});

voice.serve({
  metrics,
  front: gateway.useFront,
  reconnect: (_, port) => events.reconnect(port),
  drain: async ({ timeoutMs, idleMs }) => {
    await gateway.close(timeoutMs, idleMs);
    // After the row of the last request is written.
    await events.close();
    logs.close();
    sharedLimits.close();
    replica.close();
  },
});

const { edgePort } = await gateway.listen();
voice.listening({ ...gateway.ports(), edge: edgePort }, gateway.sockets());
giveBackHeapWhenQuiet();
growHeapWhenCollectedOften();
