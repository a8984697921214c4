import { Worker, type MessagePort } from "node:worker_threads";
import type { MetricSample } from "#kernel/process/metrics.ts";
import type { OnMissing } from "#kernel/process/native-transport.ts";
import { closeOpenDescriptors } from "#kernel/process/fd-registry.ts";
import type {
  ListeningSockets,
  RuleMaterial,
  FromWorker,
  GatewayFront,
  PeerName,
  SinkName,
  TicketKeys,
  ToWorker,
} from "#kernel/process/worker-protocol.ts";
import type { PageSighting } from "#kernel/process/page-sighting.ts";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import type { PrestartedThreads } from "./prestart.ts";
import { type Log, logOf } from "#app/log/log.ts";
import { areaOfThread } from "#app/config/log-areas.ts";
import { threadLimits } from "./thread-limits.ts";
import type { Stalls } from "./stalls.ts";
import { watchThread, type WatchLimits } from "./watchdog.ts";
import type { Bound } from "./thread-ports.ts";
import { createMetricRequests } from "./metric-requests.ts";
import { drained, within } from "./drain-thread.ts";

/** Time limit of a start: a million records take a minute on a slow and busy machine. */
const START_LIMIT_MS = 300_000;
const METRICS_LIMIT_MS = 1_000;
/** Added to a thread's own time to drain. */
const STOP_MARGIN_MS = 1_000;
/** Restart delays after a crash: doubled from the first to the last. */
const RESTART_FIRST_MS = 100;
const RESTART_LAST_MS = 10_000;
/** A thread that lives this long after a restart has recovered: its next crash counts as a first one. */
const RECOVERED_MS = 30_000;

export interface PlaneWorker {
  readonly name: string;
  /** Resolves with the ports once every socket listens; rejects if the first start fails. */
  readonly listening: Promise<Bound>;
  /** Descriptors and ports of its listening sockets, which another process can take over. */
  sockets(): { readonly fds: ListeningSockets; readonly ports: Bound };
  /** Another process takes over: the thread stops the duties that only one process may have, until it is stopped. */
  handOver(): void;
  /** True between `listening` and a crash or stop. */
  isUp(): boolean;
  metrics(): Promise<readonly MetricSample[]>;
  /** Whether the thread is up and its event loop runs: one in an endless loop is silent. */
  answers(withinMs: number): Promise<boolean>;
  /** Another thread sends through this port. */
  attach(port: MessagePort): void;
  /** The thread that this one sends to as `to` was restarted. */
  reconnect(to: SinkName, port: MessagePort): void;
  /** Another plane is reachable at this port; the next start gets it through the configuration. */
  introduce(name: PeerName, port: number): void;
  useTicketKeys(keys: TicketKeys): void;
  usePlaces(databases: readonly SharedArrayBuffer[]): void;
  useRuleMaterial(material: RuleMaterial): void;
  /** The next start gets it through the configuration. */
  useFront(front: GatewayFront): void;
  /** Lets requests in progress finish, then ends the thread. `idleMs`: see DrainTimes; 0 by default. */
  stop(timeoutMs: number, idleMs?: number): Promise<void>;
}

export interface PlaneWorkerSpec {
  readonly name: string;
  /** URL of the module that the thread runs. */
  readonly script: string;
  readonly log: Log;
  /** Threads that have begun to load; the first start takes the one of this name. */
  readonly early?: PrestartedThreads;
  /**
   * Builds new `workerData` for each start, because message ports die with a thread. `bound` has the ports of the first
   * start, so that a restart listens where clients expect it.
   */
  connect(bound: Bound): { readonly workerData: object; readonly transfer: readonly MessagePort[] };
  /** The server runs without it: a failed first start is tried again, as after a crash. */
  readonly isLazy?: boolean;
  /** A thread whose event loop is blocked is ended, and restarted as after a crash. */
  readonly watch?: WatchLimits;
  /** Watches its event loop, by its name, for as long as it lives. */
  readonly stalls?: Pick<Stalls, "watch">;
  /** Called when the thread is ended for that reason. */
  onSilent?(): void;
  /** Called after a crash, when the thread serves again. */
  onRestart?(): void;
  /** Called when the thread received a NOTIFY for a secondary zone. */
  onNotified?(zoneId: string, from: string): void;
  /** Called when the apex of a zone that other servers transfer has other addresses. */
  onReaddressed?(zoneId: string, addresses: string): void;
  /** Called with all connections of tunnels to the thread whenever one has changed, and with none when it has ended. */
  onTunnels?(thread: string, links: readonly TunnelLink[]): void;
  /** Called with what pages have loaded and set, at most once a second. */
  onSightings?(sightings: readonly PageSighting[]): void;
  /** Called when a part uses Node.js in the thread. */
  onNotNative?: OnMissing;
  /** Called when a thread that starts on demand has work. */
  onNeeded?(sink: SinkName): void;
  /** Called when an account's default gateway is used before it exists. */
  onDefaultGateway?(accountId: string, atMs: number): void;
}

/** Runs a plane in a worker thread and restarts it if it dies after it has once listened. */
export function startPlaneWorker(spec: PlaneWorkerSpec): PlaneWorker {
  const { name } = spec;
  const log = logOf(spec.log, areaOfThread(name));
  const metricRequests = createMetricRequests();
  let bound: Bound = {};
  let fds: ListeningSockets = {};
  let state: "starting" | "up" | "down" | "stopping" = "starting";
  let restartMs = RESTART_FIRST_MS;
  let worker: Worker;
  /** Whether the current start reaches the state of listening. */
  let starting: Promise<boolean> | null = null;
  let stopWatching = (): void => undefined;

  const watch = (thread: Worker, limits: WatchLimits): (() => void) =>
    watchThread(
      {
        answers: async (withinMs) => (await askMetrics(withinMs)) !== undefined,
        cpuMs: async () => {
          const { user, system } = await thread.cpuUsage();
          return (user + system) / 1000;
        },
        onSilent: (silentMs) => {
          log.error({ plane: name, silent_ms: silentMs }, "plane thread is unresponsive; terminating it");
          spec.onSilent?.();
          void thread.terminate();
        },
      },
      limits,
    );

  const onMessage = (message: Exclude<FromWorker, { type: "descriptors" | "heartbeat" }>, listening: () => void): void => {
    if (message.type === "log") log[message.level]({ plane: name, ...message.fields }, message.message);
    else if (message.type === "metrics") metricRequests.answer(message.request, message.samples);
    else if (message.type === "notified") spec.onNotified?.(message.zone_id, message.from);
    else if (message.type === "readdressed") spec.onReaddressed?.(message.zone_id, message.addresses);
    else if (message.type === "default_gateway") spec.onDefaultGateway?.(message.account_id, message.at_ms);
    else if (message.type === "tunnels") spec.onTunnels?.(name, message.links);
    else if (message.type === "sightings") spec.onSightings?.(message.sightings);
    else if (message.type === "not_native") spec.onNotNative?.(message.part, message.reason);
    else if (message.type === "needed") spec.onNeeded?.(message.sink);
    else if (message.type === "listening") {
      bound = message.addresses;
      fds = message.sockets;
      if (state !== "stopping") state = "up";
      listening();
    }
  };

  const launch = (): Promise<Bound> => {
    const { promise, resolve, reject } = Promise.withResolvers<Bound>();
    const { workerData, transfer } = spec.connect(bound);
    const early = spec.early?.take(name);
    const thread =
      early?.worker ??
      new Worker(new URL(spec.script), { name, workerData, transferList: [...transfer], resourceLimits: threadLimits(name) });
    early?.begin(workerData, transfer);
    const limit = setTimeout(() => {
      reject(new Error(`${name} did not start within ${START_LIMIT_MS} ms`));
      void thread.terminate();
    }, START_LIMIT_MS);
    let recovered: NodeJS.Timeout | undefined;
    const onListening = (): void => {
      if (spec.watch !== undefined && state === "up") stopWatching = watch(thread, spec.watch);
      recovered = setTimeout(() => (restartMs = RESTART_FIRST_MS), RECOVERED_MS).unref();
      resolve(bound);
    };
    let descriptors: Int32Array | undefined;
    let unwatch = (): void => undefined;
    thread.on("message", (message: FromWorker) => {
      if (message.type === "descriptors") ({ descriptors } = message);
      else if (message.type === "heartbeat") unwatch = spec.stalls?.watch(name, message.memory) ?? unwatch;
      else onMessage(message, onListening);
    });
    thread.on("error", (error) => {
      if (state !== "starting" || spec.isLazy === true) log.error({ plane: name, err: error }, "plane thread failed");
      reject(error);
    });
    thread.on("exit", () => {
      clearTimeout(limit);
      clearTimeout(recovered);
      stopWatching();
      unwatch();
      if (descriptors !== undefined) closeOpenDescriptors(descriptors);
      spec.onTunnels?.(name, []);
      metricRequests.answerAll();
      reject(new Error(`${name} ended before it listened`));
      if (state === "up" || (state === "starting" && spec.isLazy === true)) restartLater();
    });
    worker = thread;
    starting = promise.then(
      () => true,
      () => false,
    );
    return promise.finally(() => {
      clearTimeout(limit);
      starting = null;
    });
  };

  const restartLater = (): void => {
    state = "down";
    const delay = restartMs;
    restartMs = Math.min(restartMs * 2, RESTART_LAST_MS);
    log.warn({ plane: name, delay_ms: delay }, "restarting plane thread");
    setTimeout(() => {
      if (state !== "down") return;
      launch().then(
        () => spec.onRestart?.(),
        () => state === "down" && restartLater(),
      );
    }, delay).unref();
  };

  const post = (message: ToWorker, transfer: readonly MessagePort[] = []): void => worker.postMessage(message, [...transfer]);
  const askMetrics = async (limitMs: number): Promise<readonly MetricSample[] | undefined> =>
    state === "up" ? metricRequests.ask(limitMs, (request) => post({ type: "metrics", request })) : undefined;
  const listening = launch();
  return {
    name,
    listening,
    sockets: () => ({ fds: state === "up" ? fds : {}, ports: bound }),
    handOver: () => post({ type: "hand_over" }),
    isUp: () => state === "up",
    metrics: async () => (await askMetrics(METRICS_LIMIT_MS)) ?? [],
    answers: async (withinMs) => (await askMetrics(withinMs)) !== undefined,
    attach: (port) => post({ type: "attach", port }, [port]),
    reconnect: (to, port) => post({ type: "reconnect", to, port }, [port]),
    introduce: (neighbour, port) => post({ type: "neighbour", name: neighbour, port }),
    useTicketKeys: (keys) => post({ type: "ticket_keys", keys }),
    useRuleMaterial: (material) => post({ type: "rule_material", material }),
    usePlaces: (databases) => post({ type: "places", databases }),
    useFront: (front) => post({ type: "front", front }),
    stop: async (timeoutMs, idleMs = 0) => {
      const limitMs = timeoutMs + STOP_MARGIN_MS;
      const wasUp = state === "up";
      state = "stopping";
      stopWatching();
      // Ending a thread while it loads koffi's functions would end the process too.
      const mustDrain = wasUp || (starting !== null && (await within(limitMs, starting)) === true);
      if (mustDrain) await drained(worker, limitMs, () => post({ type: "drain", timeoutMs, idleMs }));
      // Most threads have ended by then. Terminating one during a native call ends the process, so they are asked first.
      await worker.terminate();
    },
  };
}
