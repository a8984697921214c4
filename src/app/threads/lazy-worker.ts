import type { MessagePort } from "node:worker_threads";
import type { PlaneWorker } from "./plane-worker.ts";

/** A thread that is started when it has work for the first time. Until then it counts as up. */
export interface LazyWorker extends PlaneWorker {
  /** Starts the thread for new work, if it has not been started. */
  wake(): void;
}

/** Messages sent through ports before the thread starts wait in them. `start` must start it with `isLazy`. */
export function createLazyWorker(name: string, start: () => PlaneWorker): LazyWorker {
  const waiting = new Set<MessagePort>();
  let worker: PlaneWorker | undefined;
  let isStarting = false;
  let isStopped = false;
  const begin = async (): Promise<void> => {
    isStarting = true;
    worker = start();
    for (const port of waiting) worker.attach(port);
    waiting.clear();
    // Its failure has been logged, and it is started again.
    await worker.listening.catch(() => undefined);
    isStarting = false;
  };
  return {
    name,
    wake: () => {
      if (worker === undefined && !isStopped) void begin();
    },
    listening: Promise.resolve({}),
    // It listens on no port.
    sockets: () => ({ fds: {}, ports: {} }),
    handOver: () => worker?.handOver(),
    isUp: () => worker === undefined || isStarting || worker.isUp(),
    metrics: async () => worker?.metrics() ?? [],
    answers: async (withinMs) => worker === undefined || isStarting || worker.answers(withinMs),
    attach: (port) => {
      if (worker !== undefined) return worker.attach(port);
      waiting.add(port);
      // The sender has ended.
      port.once("close", () => waiting.delete(port));
    },
    reconnect: (to, port) => (worker === undefined ? port.close() : worker.reconnect(to, port)),
    introduce: (neighbour, port) => worker?.introduce(neighbour, port),
    useTicketKeys: (keys) => worker?.useTicketKeys(keys),
    usePlaces: (databases) => worker?.usePlaces(databases),
    useRuleMaterial: (material) => worker?.useRuleMaterial(material),
    useFront: (front) => worker?.useFront(front),
    stop: async (timeoutMs) => {
      isStopped = true;
      for (const port of waiting) port.close();
      await worker?.stop(timeoutMs);
    },
  };
}
