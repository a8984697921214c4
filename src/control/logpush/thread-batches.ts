import type { MessagePort } from "node:worker_threads";
import type { LogBatch } from "./batch.ts";
import type { BatchOrder, ReadOrderedBatch } from "./batch-order.ts";

export interface BatchRequest {
  readonly request: number;
  readonly order: BatchOrder;
}

export type BatchAnswer = { readonly request: number } & ({ readonly batch: LogBatch } | { readonly error: string });

/** Batches that another thread reads. */
export interface ThreadBatches {
  /** Rejects if the thread fails or ends. */
  readonly read: ReadOrderedBatch;
  /** Connects the thread, both the first one and one that was restarted. */
  connect(port: MessagePort): void;
  close(): void;
}

export function createThreadBatches(): ThreadBatches {
  const waiting = new Map<number, PromiseWithResolvers<LogBatch>>();
  let port: MessagePort | null = null;
  let last = 0;

  const leave = (): void => {
    port = null;
    for (const waiter of waiting.values()) waiter.reject(new Error("the log reader thread has ended"));
    waiting.clear();
  };
  const onAnswer = (answer: BatchAnswer): void => {
    const waiter = waiting.get(answer.request);
    waiting.delete(answer.request);
    if ("error" in answer) waiter?.reject(new Error(answer.error));
    else waiter?.resolve(answer.batch);
  };

  return {
    read: (order) => {
      const waiter = Promise.withResolvers<LogBatch>();
      if (port === null) return Promise.reject(new Error("the log reader thread is not running"));
      const request = ++last;
      waiting.set(request, waiter);
      port.postMessage({ request, order } satisfies BatchRequest);
      return waiter.promise;
    },
    connect: (next) => {
      leave();
      port = next;
      next.on("message", onAnswer);
      next.on("close", () => port === next && leave());
      next.unref();
    },
    close: () => {
      port?.close();
      leave();
    },
  };
}
