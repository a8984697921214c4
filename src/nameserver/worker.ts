import { type MessagePort, parentPort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { createEventSink } from "#events/write/sink.ts";
import { workOfThread } from "#kernel/process/worker-bootstrap.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { readPlaneSealer } from "#kernel/crypto/plane-keys.ts";
import { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { openReplica } from "#snapshot/replica.ts";
import type { NameserverConfig } from "./config.ts";
import { createNameserver } from "./nameserver.ts";
import { loadSystemSockets } from "#nameserver/listen/system-sockets.ts";
import { loadTimeSlices } from "#wire/native/time-slices.ts";

/** Data from the main thread for a nameserver worker. */
export interface NameserverWorkerData {
  readonly name: string;
  readonly config: NameserverConfig;
  readonly feed: MessagePort;
  readonly events: MessagePort;
  readonly lastGoodPath: string;
  /**
   * A file of keys (kernel/crypto/plane-keys.ts) that decrypts sealed secrets and from which the DNS cookie secret is derived; the same for
   * every thread and after every start.
   */
  readonly sealKeyPath: string;
}

/** SipHash-2-4 (RFC 9018). */
const COOKIE_SECRET_BYTES = 16;

/** How long rows of the query log gather: each batch is a transaction, and nothing waits for these rows. */
const LOG_FLUSH_MS = 1_000;

/** About the time of a few answers. Without it, an answer would wait for other threads that run for milliseconds at a time. */
const SLICE_NS = 100_000;

if (parentPort) await run(parentPort, await workOfThread<NameserverWorkerData>());

/** The nameserver as a thread: a replica as input, sockets as output, controlled by worker-protocol.ts. */
async function run(
  parent: MessagePort,
  { name, config, feed, events: eventsPort, lastGoodPath, sealKeyPath }: NameserverWorkerData,
): Promise<void> {
  const voice = createWorkerChannel(parent);
  const metrics = createMetrics();
  const sockets = await loadSystemSockets(voice.notNative);
  (await loadTimeSlices(voice.notNative))?.askFor(SLICE_NS);
  const replica = await openReplica({
    port: createMessagePortFeed(feed),
    name,
    kinds: ["zone", "serial", "record", "staged", "release", "dnssec", "transfer", "certificate", "edge_addresses"],
    trim: (record) => {
      // Answers use only the target of a CNAME, and the RDATA of all other types.
      if (record.type !== "CNAME") record.content = "";
    },
    lastGoodPath,
    log: voice.log,
  });
  const sealer = readPlaneSealer(sealKeyPath);
  const cookieSecret = sealer.derive("dns cookies").subarray(0, COOKIE_SECRET_BYTES);
  const events = createEventSink({ port: eventsPort, metrics, flushMs: LOG_FLUSH_MS });
  const nameserver = createNameserver({
    replica,
    events,
    metrics,
    config,
    clock: systemClock,
    cookieSecret,
    sealer,
    log: voice.log,
    onNotified: voice.notified,
    onReaddressed: voice.readdressed,
    sockets,
  });
  voice.serve({
    metrics,
    reconnect: (_to, port) => events.reconnect(port),
    drain: async ({ timeoutMs, idleMs }) => {
      await nameserver.close(timeoutMs, idleMs);
      replica.close();
      await events.close();
    },
  });
  const ports = await nameserver.listen();
  voice.listening({ ...ports }, nameserver.sockets());
  giveBackHeapWhenQuiet();
}
