import { readFileSync } from "node:fs";
import { type MessagePort, parentPort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { workOfThread } from "#kernel/process/worker-bootstrap.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { readPlaneSealer } from "#kernel/crypto/plane-keys.ts";
import { loadTimeSlices } from "#wire/native/time-slices.ts";
import { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import { leasedLimits } from "#wire/redis/leases.ts";
import { useRuleMaterial } from "#rules/managed/rule-material.ts";
import { createEventSink } from "#events/write/sink.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { openReplica } from "#snapshot/replica.ts";
import type { EdgeConfig } from "./config.ts";
import { createBodyTee } from "./detection/body-tee.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { createThreadRules } from "#edge/zones/thread-rules.ts";
import { createEdge } from "./edge.ts";

/** The main thread's data for an edge worker. Ports are transferred. */
export interface EdgeWorkerData {
  readonly name: string;
  readonly config: EdgeConfig;
  readonly feed: MessagePort;
  readonly events: MessagePort;
  /** To the detector worker. */
  readonly tap: MessagePort;
  readonly lastGoodPath: string;
  /** File of 32 bytes that decrypt the keys of certificates. */
  readonly sealKeyPath: string;
  /** The root certificate of the installation's own authority. */
  readonly localRootPath: string;
}

/**
 * Longer than the default of other threads, about 3 ms, so that these may interrupt the detector. Not longer than
 * necessary: before Linux 6.17, a thread that has used more than its share waits for the end of the running slice; since
 * then, for the end of its own.
 */
const DETECTOR_SLICE_NS = 10_000_000;

if (parentPort) await run(parentPort, await workOfThread<EdgeWorkerData>());

/** The edge as a thread: takes the replica, opens the sockets, and speaks worker-protocol.ts. */
async function run(parent: MessagePort, data: EdgeWorkerData): Promise<void> {
  const voice = createWorkerChannel(parent);
  const onError = (error: unknown): void =>
    voice.log("error", "the edge closed a connection after an internal error", {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  const metrics = createMetrics();
  const replica = await openReplica({
    port: createMessagePortFeed(data.feed),
    name: data.name,
    kinds: [
      "zone",
      "record",
      "staged",
      "release",
      "list",
      "ruleset",
      "certificate",
      "acme_challenge",
      "custom_hostname",
      "fallback_origin",
      "purge",
      "gateway_domain",
      "core_rules",
      "tunnel",
      "visitor_keys",
    ],
    trim: (record) => {
      record.rdata = "";
    },
    lastGoodPath: data.lastGoodPath,
    log: voice.log,
  });
  const events = createEventSink({
    ...{ port: data.events, metrics },
    maskingOf: (zoneId) => replica.snapshot.get("zone", zoneId)?.edge?.log_masking,
  });
  const sealer = readPlaneSealer(data.sealKeyPath);
  const clearanceKey = sealer.derive("clearance");
  const originRoots = [readFileSync(data.localRootPath, "utf8")];
  const socketCalls = await loadSocketCalls(voice.notNative);
  const timeSlices = await loadTimeSlices(voice.notNative);
  const yields = (thread: number): boolean => timeSlices?.askFor(DETECTOR_SLICE_NS, thread) ?? false;
  const tap = createBodyTee({ port: data.tap, metrics, yields, placeIn: socketCalls?.placeIn, onFirstUse: () => voice.needed("detector") });
  const rules = createThreadRules({
    replica,
    given: data.config.ruleMaterial,
    warn: (message, fields) => voice.log("warn", message, fields),
  });
  useRuleMaterial(rules.current());
  const sharedLimits = leasedLimits(data.config.sharedCounters, { sealer, clock: systemClock, metrics, subject: "edge" });
  const edge = createEdge({
    ...{ sharedLimits, replica, events, tap, metrics, sealer, clearanceKey, originRoots, socketCalls, onError },
    warn: (message, fields) => voice.log("warn", message, fields),
    onTunnels: voice.tunnels,
    onSightings: voice.sightings,
    clock: systemClock,
    config: data.config,
  });
  rules.onShared(() => edge.useRuleMaterial(rules.current()));
  voice.serve({
    metrics,
    neighbour: edge.neighbourAt,
    ticketKeys: edge.useTicketKeys,
    places: edge.usePlaces,
    ruleMaterial: (material) => {
      rules.give(material);
      edge.useRuleMaterial(rules.current());
    },
    reconnect: (to, port) => (to === "events" ? events : tap).reconnect(port),
    drain: async ({ timeoutMs, idleMs }) => {
      await edge.close(timeoutMs, idleMs);
      replica.close();
      sharedLimits.close();
      tap.close();
      await events.close();
    },
  });
  const addresses = await edge.listen();
  // The last resort after the connections' own handlers: one visitor must not end the worker of all others.
  process.on("uncaughtException", onError);
  voice.listening({ ...addresses }, edge.sockets());
  giveBackHeapWhenQuiet();
}
