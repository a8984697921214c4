import { type Worker } from "node:worker_threads";

/** Undefined if it takes longer. */
export function within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const limit = setTimeout(() => resolve(undefined), limitMs);
  return Promise.race([promise, late]).finally(() => clearTimeout(limit));
}

/** Resolves when the thread has drained and ended, or after the limit. */
export function drained(worker: Worker, limitMs: number, ask: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const limit = setTimeout(resolve, limitMs);
  worker.on("exit", () => resolve());
  ask();
  return promise.finally(() => clearTimeout(limit));
}
