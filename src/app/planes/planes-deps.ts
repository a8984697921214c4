import type { RuleMaterial } from "#kernel/process/worker-protocol.ts";
import type { MessagePort } from "node:worker_threads";
import type { Bound, PlaneWorker } from "#app/threads/plane-worker.ts";
import type { Stalls } from "#app/threads/stalls.ts";
import type { Config } from "#app/config/config.ts";
import type { Log } from "#app/log/log.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { LiveConfig } from "#app/config/live-config.ts";
import type { OnMissing } from "#kernel/process/native-transport.ts";
import type { PlaneFiles } from "./plane-files.ts";
import type { Publisher } from "#snapshot/publisher.ts";
import type { EarlyThreads } from "#app/threads/prestart.ts";

export interface PlanesDeps {
  readonly config: Config;
  readonly live: LiveConfig;
  readonly publisher: Publisher;
  readonly log: Log;
  readonly files: PlaneFiles;
  readonly early: EarlyThreads;
  /** The material from the operator's files for rules, as it is now. */
  ruleMaterial(): RuleMaterial;
  /** Listeners that what tenants name never reaches. */
  readonly operatorPorts: SharedArrayBuffer;
  readonly metrics: MetricRegistry;
  /** Nameserver and edge start with the others; else with the first zone. */
  readonly hasZones: boolean;
  /** Told of each secondary zone whose primary has announced a change. */
  onNotified(zoneId: string, from: string): void;
  /** Told of each zone that other servers fetch whose apex has other addresses. */
  onReaddressed(zoneId: string, addresses: string): void;
  readonly stalls: Stalls;
  /** Told what Node.js carries in the threads, and why. */
  readonly onNotNative: OnMissing;
  /** Told of each account whose default gateway is used and does not exist yet. */
  onDefaultGateway(accountId: string, atMs: number): void;
}

/** Starts a thread that serves; it is stopped with the others. */
export type Serve = (spec: ServingSpec) => PlaneWorker;

export interface ServingSpec {
  readonly name: string;
  readonly script: string;
  /** Ports to the threads that this one sends to. */
  ports(): Ports;
  /** Called when a thread that starts when it is needed has work from this one. */
  onNeeded?(): void;
  /** `bound`: the ports that a start before this one found. */
  planeConfig(bound: Bound): object;
}

export type Ports = Readonly<Record<string, MessagePort>>;
