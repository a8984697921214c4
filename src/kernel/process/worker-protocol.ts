import type { MessagePort } from "node:worker_threads";
import type { AllowedHosts } from "#kernel/net/host-gate.ts";
import type { MetricRegistry, MetricSample } from "./metrics.ts";
import type { NativePart, OnMissing } from "./native-transport.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { OWN_DESCRIPTORS } from "./fd-registry.ts";

/** What a worker thread says to the main thread. */
export type FromWorker =
  | { readonly type: "listening"; readonly addresses: Readonly<Record<string, number>> }
  /** What to close when the thread has ended (`own-descriptors.ts`). */
  | { readonly type: "descriptors"; readonly descriptors: Int32Array }
  /** What to look at to know that the thread takes its turns (`heartbeat.ts`). */
  | { readonly type: "heartbeat"; readonly memory: SharedArrayBuffer }
  | { readonly type: "metrics"; readonly request: number; readonly samples: readonly MetricSample[] }
  | { readonly type: "drained" }
  /** The server at this address has announced that a secondary zone has changed. */
  | { readonly type: "notified"; readonly zone_id: string; readonly from: string }
  /** What stands in for the alias at a zone's apex has other addresses, which the text tells apart. */
  | { readonly type: "readdressed"; readonly zone_id: string; readonly addresses: string }
  /** A gateway that comes into being with its first use was used, at this time. */
  | { readonly type: "default_gateway"; readonly account_id: string; readonly at_ms: number }
  /** Node.js carries something in this thread, and why. */
  | { readonly type: "not_native"; readonly part: NativePart; readonly reason: string }
  /** There is work for a thread that starts when it is needed. */
  | { readonly type: "needed"; readonly sink: SinkName }
  | {
      readonly type: "log";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly fields?: Readonly<Record<string, unknown>>;
    };

/** What the main thread says to a worker thread. */
export type ToWorker =
  | { readonly type: "metrics"; readonly request: number }
  /** One more thread will send through this port. */
  | { readonly type: "attach"; readonly port: MessagePort }
  /** A thread that this one sends to has been started again, and listens here now. */
  | { readonly type: "reconnect"; readonly to: SinkName; readonly port: MessagePort }
  | { readonly type: "ticket_keys"; readonly keys: TicketKeys }
  /** The operator's databases of places are these now, whole files in shared memory. */
  | { readonly type: "places"; readonly databases: readonly SharedArrayBuffer[] }
  /** The operator has changed how clients come to the gateway. */
  | { readonly type: "front"; readonly front: GatewayFront }
  /** Another plane takes what this one hands on to it at a port of this machine. */
  | { readonly type: "neighbour"; readonly name: NeighbourName; readonly port: number }
  /** Stop accepting, finish what is under way within the time, then answer `drained`. */
  | { readonly type: "drain"; readonly timeoutMs: number };

/**
 * What the threads of one port seal session tickets with (RFC 5077 §4), 48 bytes each: name, then the two secrets. The
 * first seals; the others only open what they have sealed. None leaves each thread with a secret of its own.
 */
export type TicketKeys = readonly Uint8Array[];

/** How clients come to the gateway, as far as it can change while it runs. */
export interface GatewayFront {
  /** PEM texts; without them the gateway speaks plain HTTP. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Absent: any. */
  readonly allowedHosts?: AllowedHosts;
}

/** The threads that others send to. */
export type SinkName = "events" | "detector";

/** What planes do for each other over loopback. */
export type NeighbourName = "doh" | "gateway";

export interface WorkerDuties {
  readonly metrics: MetricRegistry;
  /** Resolves when nothing is under way any more; the thread ends after it. */
  drain(timeoutMs: number): Promise<void>;
  attach?(port: MessagePort): void;
  reconnect?(to: SinkName, port: MessagePort): void;
  neighbour?(name: NeighbourName, port: number): void;
  ticketKeys?(keys: TicketKeys): void;
  front?(front: GatewayFront): void;
  places?(databases: readonly SharedArrayBuffer[]): void;
}

/** A worker's words to the main thread. */
export interface WorkerVoice {
  listening(addresses: Readonly<Record<string, number>>): void;
  notified(zoneId: string, from: string): void;
  readdressed(zoneId: string, addresses: string): void;
  defaultGatewayUsed(accountId: string, atMs: number): void;
  needed(sink: SinkName): void;
  notNative: OnMissing;
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** For before the duties can be given: logging, and then `serve` to answer the main thread. */
export function createWorkerVoice(main: MessagePort): WorkerVoice & { serve(duties: WorkerDuties): void } {
  const say = (message: FromWorker): void => main.postMessage(message);
  say({ type: "descriptors", descriptors: OWN_DESCRIPTORS });
  return {
    listening: (addresses) => {
      say({ type: "heartbeat", memory: startHeartbeat() });
      say({ type: "listening", addresses });
    },
    notified: (zoneId, from) => say({ type: "notified", zone_id: zoneId, from }),
    readdressed: (zoneId, addresses) => say({ type: "readdressed", zone_id: zoneId, addresses }),
    defaultGatewayUsed: (accountId, atMs) => say({ type: "default_gateway", account_id: accountId, at_ms: atMs }),
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
          case "places":
            return duties.places?.(message.databases);
          case "drain":
            return void duties.drain(message.timeoutMs).finally(() => {
              say({ type: "drained" });
              main.close();
            });
        }
      });
    },
  };
}
