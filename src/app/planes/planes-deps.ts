import type { RuleMaterial } from "#kernel/process/worker-protocol.ts";
import type { MessagePort } from "node:worker_threads";
import type { PlaneWorker } from "#app/threads/plane-worker.ts";
import type { Bound } from "#app/threads/thread-ports.ts";
import type { InheritedSockets } from "#app/handover/inherited-sockets.ts";
import type { Stalls } from "#app/threads/stalls.ts";
import type { Config } from "#app/config/config.ts";
import type { Log } from "#app/log/log.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { LiveConfig } from "#app/config/live-config.ts";
import type { OnMissing } from "#kernel/process/native-transport.ts";
import type { OpenSocket } from "./socket-set.ts";
import type { PlaneFiles } from "./plane-files.ts";
import type { Publisher } from "#snapshot/publisher.ts";
import type { PrestartedThreads } from "#app/threads/prestart.ts";
import type { PageSighting } from "#kernel/process/page-sighting.ts";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import type { PlaneRole } from "#app/config/roles.ts";

/** The running data planes: those of the process's roles. */
export interface Planes {
  /** The threads that should serve by now. */
  readonly workers: readonly PlaneWorker[];
  /** By address; empty for planes that the process does not run. */
  readonly ports: Readonly<Record<"dns" | "dot" | "http" | "https" | "gateway", readonly number[]>>;
  /** Planes that nothing has woken yet. */
  idle(): readonly string[];
  /** Planes that are being started because of a change or a visitor, and do not serve yet. */
  waking(): readonly string[];
  /** Resolves when they serve, or after the time; true if they serve. */
  awake(withinMs: number): Promise<boolean>;
  useRuleMaterial(material: RuleMaterial): void;
  /** Applies the live configuration to the planes. */
  reload(): void;
  /** A port to the writer of events, which receives batches of nodes; it closes when the writer ends. */
  writerPort(): MessagePort;
  /** Their listening sockets, which another process can take over. */
  sockets(): PlaneSockets;
  /** Another process takes over: leaves to it the duties of a single process. */
  handOver(): void;
  /** Stops accepting requests, finishes those in progress, then writes the remaining events. `idleMs`: see DrainTimes. */
  stop(timeoutMs: number, idleMs?: number): Promise<void>;
}

export interface PlaneSockets {
  readonly sockets: readonly OpenSocket[];
  /** Whether the threads of zones have them; otherwise they wait for visitors. */
  readonly servesZones: boolean;
}

/** Reports of planes to control, beside events. */
export interface PlaneReports {
  /** Called for each secondary zone whose primary has announced a change. */
  onNotified(zoneId: string, from: string): void;
  /** Called for each zone with other addresses at its apex that other servers transfer. */
  onReaddressed(zoneId: string, addresses: string): void;
  /** Called with all connections of tunnels to a thread whenever one has changed. */
  onTunnels(thread: string, links: readonly TunnelLink[]): void;
  onSightings(sightings: readonly PageSighting[]): void;
  /** Called for each account that uses its default gateway before it exists. */
  onDefaultGateway(accountId: string, atMs: number): void;
}

export interface PlanesDeps extends PlaneReports {
  readonly config: Config;
  readonly live: LiveConfig;
  readonly publisher: Publisher;
  readonly log: Log;
  readonly files: PlaneFiles;
  readonly early: PrestartedThreads;
  /** The current material from the operator's files for rules. */
  ruleMaterial(): RuleMaterial;
  /** Listeners that tenants' targets must never reach. */
  readonly operatorPorts: SharedArrayBuffer;
  readonly metrics: MetricRegistry;
  /** Sockets of the process before this one; absent: every socket is opened. */
  readonly inherited?: InheritedSockets | undefined;
  /** One Int32: 1 once the process before this one has closed the events database; absent: it is closed. */
  readonly eventsFree?: SharedArrayBuffer | undefined;
  /** A node's events go to control through this port, a new one for each start of the thread that sends; absent: they stay here. */
  uplink?(): MessagePort;
  /** Nameserver and edge start with the others; otherwise with the first zone. */
  readonly hasZones: boolean;
  /** The AI gateway starts with the others; otherwise with the first gateway. */
  readonly hasGateways: boolean;
  /** Port at which this process has images; absent: they are on another machine. */
  readonly imagesPort?: number;
  readonly stalls: Stalls;
  /** Called with the parts that use Node.js in the threads, and why. */
  readonly onNotNative: OnMissing;
}

/** Starts a serving thread, which is stopped with the others. */
export type Serve = (spec: ServingSpec) => PlaneWorker;

export interface ServingSpec {
  readonly name: string;
  readonly role: PlaneRole;
  readonly script: string;
  /** Ports to the threads that this one sends to. */
  ports(): Ports;
  /** Called when a thread that starts on demand has work from this one. */
  onNeeded?(): void;
  /** `bound`: the ports of an earlier start. */
  planeConfig(bound: Bound): object;
}

export type Ports = Readonly<Record<string, MessagePort>>;
