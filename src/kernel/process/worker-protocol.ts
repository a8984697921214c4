import { isMainThread, type MessagePort } from "node:worker_threads";
import type { AllowedHosts } from "#kernel/net/host-gate.ts";
import type { MetricRegistry, MetricSample } from "./metrics.ts";
import type { NativePart, OnMissing } from "./native-transport.ts";
import { startHeartbeat } from "./heartbeat.ts";
import type { PageSighting } from "./page-sighting.ts";
import type { TunnelLink } from "./tunnel-link.ts";
import { OWN_DESCRIPTORS } from "./fd-registry.ts";

/** A message of a worker thread to the main thread. */
export type FromWorker =
  | { readonly type: "listening"; readonly addresses: Readonly<Record<string, number>>; readonly sockets: ListeningSockets }
  /** Descriptors to close when the thread has ended (`fd-registry.ts`). */
  | { readonly type: "descriptors"; readonly descriptors: Int32Array }
  /** Memory for detecting that the thread is unresponsive (`heartbeat.ts`). */
  | { readonly type: "heartbeat"; readonly memory: SharedArrayBuffer }
  | { readonly type: "metrics"; readonly request: number; readonly samples: readonly MetricSample[] }
  | { readonly type: "drained" }
  /** The server at this address sent a NOTIFY for a secondary zone. */
  | { readonly type: "notified"; readonly zone_id: string; readonly from: string }
  /** The addresses of a flattened alias at a zone's apex changed; the text identifies them. */
  | { readonly type: "readdressed"; readonly zone_id: string; readonly addresses: string }
  /** A default gateway, which is created on first use, was used at this time. */
  | { readonly type: "default_gateway"; readonly account_id: string; readonly at_ms: number }
  /** The connections of tunnels' connectors to this thread: all of them, whenever one has changed. */
  | { readonly type: "tunnels"; readonly links: readonly TunnelLink[] }
  /** Scripts, connections and cookies of pages. */
  | { readonly type: "sightings"; readonly sightings: readonly PageSighting[] }
  /** Part of the transport uses Node.js in this thread, and why. */
  | { readonly type: "not_native"; readonly part: NativePart; readonly reason: string }
  /** A thread that starts on demand is needed. */
  | { readonly type: "needed"; readonly sink: SinkName }
  | {
      readonly type: "log";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly fields?: Readonly<Record<string, unknown>>;
    };

/** A message of the main thread to a worker thread. */
export type ToWorker =
  | { readonly type: "metrics"; readonly request: number }
  /** Another thread will send through this port. */
  | { readonly type: "attach"; readonly port: MessagePort }
  /** A thread that this one sends to was restarted; it listens on this port. */
  | { readonly type: "reconnect"; readonly to: SinkName; readonly port: MessagePort }
  | { readonly type: "ticket_keys"; readonly keys: TicketKeys }
  /** The operator's current GeoIP databases, as whole files in shared memory. */
  | { readonly type: "places"; readonly databases: readonly SharedArrayBuffer[] }
  /** The operator's files for rules have changed. */
  | { readonly type: "rule_material"; readonly material: RuleMaterial }
  /** The operator changed the gateway's TLS or host settings. */
  | { readonly type: "front"; readonly front: GatewayFront }
  /** Another plane accepts passed requests on a local port. */
  | { readonly type: "neighbour"; readonly name: PeerName; readonly port: number }
  /** Another process takes over: leave to it what two processes must not do. */
  | { readonly type: "hand_over" }
  /** Stop accepting, finish current work within the time, then send `drained`. */
  | ({ readonly type: "drain" } & DrainTimes);

/** Descriptors of listening sockets by transport, which another process can take over; those of Node.js's datagrams are unknown. */
export type ListeningSockets = Readonly<Record<string, number>>;

export interface DrainTimes {
  readonly timeoutMs: number;
  /**
   * How long idle connections stay open for one more request, so that none is lost that is on its way. 0: they are closed
   * at once.
   */
  readonly idleMs: number;
}

/**
 * Keys of session tickets, shared by the threads of a port (RFC 5077 §4), 48 bytes each: name, then two secrets. The
 * first encrypts; the others only decrypt. Without keys, each thread uses its own secret.
 */
export type TicketKeys = readonly Uint8Array[];

/** Settings of the gateway's listener that can change at runtime. */
export interface GatewayFront {
  /** PEM texts; without them, the gateway uses plain HTTP. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Absent to allow any host. */
  readonly allowedHosts?: AllowedHosts;
}

/** The operator's files for rules (rules/managed/rule-material.ts), in memory that threads share; null if there are none. */
export interface RuleMaterial {
  /** The compiled OWASP Core Rule Set. */
  readonly coreRules: SharedArrayBuffer | null;
  /** Whether the Core Rule Set of the snapshot, which control shares, replaces it. */
  readonly followsControl: boolean;
  /** Lists that rules name as `$cf.NAME`. */
  readonly lists: SharedArrayBuffer | null;
  /** Managed rules that the operator adds. */
  readonly rows: SharedArrayBuffer | null;
}

/** Threads that other threads send to. */
export type SinkName = "events" | "detector";

/** Services that planes offer each other over loopback. */
export type PeerName = "doh" | "gateway" | "images";

export interface WorkerHandlers {
  readonly metrics: MetricRegistry;
  /** Resolves when no work is left; the thread then ends. */
  drain(times: DrainTimes): Promise<void>;
  handOver?(): void;
  attach?(port: MessagePort): void;
  reconnect?(to: SinkName, port: MessagePort): void;
  neighbour?(name: PeerName, port: number): void;
  ticketKeys?(keys: TicketKeys): void;
  front?(front: GatewayFront): void;
  places?(databases: readonly SharedArrayBuffer[]): void;
  ruleMaterial?(material: RuleMaterial): void;
}

/** A worker's channel to the main thread. */
export interface WorkerChannel {
  listening(addresses: Readonly<Record<string, number>>, sockets?: ListeningSockets): void;
  notified(zoneId: string, from: string): void;
  readdressed(zoneId: string, addresses: string): void;
  defaultGatewayUsed(accountId: string, atMs: number): void;
  tunnels(links: readonly TunnelLink[]): void;
  sightings(sightings: readonly PageSighting[]): void;
  needed(sink: SinkName): void;
  notNative: OnMissing;
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Available before the handlers exist: logs, and then answers the main thread with `serve`. */
export function createWorkerChannel(main: MessagePort): WorkerChannel & { serve(duties: WorkerHandlers): void } {
  const say = (message: FromWorker): void => main.postMessage(message);
  say({ type: "descriptors", descriptors: OWN_DESCRIPTORS });
  return {
    listening: (addresses, sockets = {}) => {
      say({ type: "heartbeat", memory: startHeartbeat() });
      say({ type: "listening", addresses, sockets });
    },
    notified: (zoneId, from) => say({ type: "notified", zone_id: zoneId, from }),
    readdressed: (zoneId, addresses) => say({ type: "readdressed", zone_id: zoneId, addresses }),
    defaultGatewayUsed: (accountId, atMs) => say({ type: "default_gateway", account_id: accountId, at_ms: atMs }),
    tunnels: (links) => say({ type: "tunnels", links }),
    sightings: (sightings) => say({ type: "sightings", sightings }),
    needed: (sink) => say({ type: "needed", sink }),
    notNative: (part, reason) => say({ type: "not_native", part, reason }),
    log: (level, message, fields) => say({ type: "log", level, message, ...(fields === undefined ? {} : { fields }) }),
    serve: (duties) => {
      main.on("message", (message: ToWorker) => {
        switch (message.type) {
          case "metrics":
            return say({ type: "metrics", request: message.request, samples: duties.metrics.samples() });
          case "attach":
            return duties.attach?.(message.port);
          case "reconnect":
            return duties.reconnect?.(message.to, message.port);
          case "neighbour":
            return duties.neighbour?.(message.name, message.port);
          case "ticket_keys":
            return duties.ticketKeys?.(message.keys);
          case "front":
            return duties.front?.(message.front);
          case "rule_material":
            return duties.ruleMaterial?.(message.material);
          case "places":
            return duties.places?.(message.databases);
          case "hand_over":
            return duties.handOver?.();
          case "drain":
            return void duties.drain(message).finally(() => {
              say({ type: "drained" });
              main.close();
              // The thread ends between two native calls: koffi ends the process if a thread is terminated during one.
              if (!isMainThread) setImmediate(() => process.exit());
            });
        }
      });
    },
  };
}
