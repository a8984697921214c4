import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import type { MetricSample } from "#kernel/metrics.ts";
import type { FromWorker, ToWorker } from "#kernel/worker-protocol.ts";
import type { Log } from "./log.ts";

/** How long a start may take before it counts as failed. */
const START_LIMIT_MS = 15_000;
const METRICS_LIMIT_MS = 1_000;
/** Restart delays after a crash: doubled from the first to the last. */
const RESTART_FIRST_MS = 100;
const RESTART_LAST_MS = 10_000;

export interface PlaneWorker {
  readonly name: string;
  /** Ports by transport, once every socket listens; empty for workers without sockets. */
  readonly addresses: Readonly<Record<string, number>>;
  /** True between `listening` and a crash or stop. */
  isUp(): boolean;
  metrics(): Promise<readonly MetricSample[]>;
  /** Hands the thread one more port to take messages from. */
  attach(port: MessagePort): void;
  /** Lets requests under way finish, then ends the thread. */
  stop(timeoutMs: number): Promise<void>;
}

export interface PlaneWorkerSpec {
  readonly name: string;
  readonly script: URL;
  readonly log: Log;
  /**
   * Builds the thread's `workerData` anew for each start: message ports die with a thread. `addresses` is what the
   * first start bound, so that a restart listens where clients expect it.
   */
  connect(addresses: Readonly<Record<string, number>>): { readonly workerData: unknown; readonly transfer: readonly MessagePort[] };
}

/** Runs a plane in a worker thread and starts it again when it dies. */
export async function startPlaneWorker(spec: PlaneWorkerSpec): Promise<PlaneWorker> {
  let addresses: Readonly<Record<string, number>> = {};
  let worker: Worker;
  let up = false;
  let stopping = false;
  let restartMs = RESTART_FIRST_MS;
  let nextRequest = 0;
  const waiting = new Map<number, (samples: readonly MetricSample[]) => void>();

  const launch = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const { workerData, transfer } = spec.connect(addresses);
      const thread = new Worker(spec.script, { name: spec.name, workerData, transferList: [...transfer] });
      worker = thread;
      const limit = setTimeout(() => reject(new Error(`${spec.name} did not start within ${START_LIMIT_MS} ms`)), START_LIMIT_MS);
      thread.on("message", (message: FromWorker) => {
        switch (message.type) {
          case "listening":
            clearTimeout(limit);
            addresses = message.addresses;
            up = true;
            restartMs = RESTART_FIRST_MS;
            resolve();
            break;
          case "metrics":
            waiting.get(message.request)?.(message.samples);
            waiting.delete(message.request);
            break;
          case "log":
            spec.log[message.level]({ plane: spec.name, ...message.fields }, message.message);
            break;
          case "drained":
            break;
        }
      });
      thread.on("error", (error) => {
        spec.log.error({ plane: spec.name, err: error }, "a plane's thread failed");
        reject(error);
      });
      thread.on("exit", () => {
        clearTimeout(limit);
        const wasUp = up;
        up = false;
        for (const answer of waiting.values()) answer([]);
        waiting.clear();
        reject(new Error(`${spec.name} ended before it listened`));
        if (!stopping && (wasUp || addresses !== undefined)) scheduleRestart();
      });
    });

  let started = false;
  const scheduleRestart = (): void => {
    if (!started) return;
    const delay = restartMs;
    restartMs = Math.min(restartMs * 2, RESTART_LAST_MS);
    spec.log.warn({ plane: spec.name, delay_ms: delay }, "starting a plane again");
    setTimeout(() => {
      if (!stopping) launch().catch(() => undefined);
    }, delay).unref();
  };

  await launch();
  started = true;

  const post = (message: ToWorker): void => worker.postMessage(message);
  return {
    name: spec.name,
    get addresses() {
      return addresses;
    },
    isUp: () => up,
    metrics: () =>
      new Promise((resolve) => {
        if (!up) return resolve([]);
        const request = nextRequest++;
        const limit = setTimeout(() => {
          waiting.delete(request);
          resolve([]);
        }, METRICS_LIMIT_MS);
        waiting.set(request, (samples) => {
          clearTimeout(limit);
          resolve(samples);
        });
        post({ type: "metrics", request });
      }),
    attach: (port) => worker.postMessage({ type: "attach", port }, [port]),
    stop: (timeoutMs) =>
      new Promise((resolve) => {
        stopping = true;
        if (!up) {
          void worker.terminate().then(() => resolve());
          return;
        }
        const end = (): void => void worker.terminate().then(() => resolve());
        const limit = setTimeout(end, timeoutMs + 1_000);
        worker.on("message", (message: FromWorker) => {
          if (message.type !== "drained") return;
          clearTimeout(limit);
          end();
        });
        post({ type: "drain", timeoutMs });
      }),
  };
}

/** A fresh channel; the first port stays with the caller, the second goes to the thread. */
export const channel = (): { readonly near: MessagePort; readonly far: MessagePort } => {
  const { port1, port2 } = new MessageChannel();
  return { near: port1, far: port2 };
};
