import type { ReadOrderedBatch } from "#control/logpush/batch-order.ts";
import { createThreadBatches, type ThreadBatches } from "#control/logpush/thread-batches.ts";
import type { MetricSample } from "#kernel/process/metrics.ts";
import type { Log } from "#app/log/log.ts";
import { type PlaneWorker, startPlaneWorker } from "#app/threads/plane-worker.ts";
import { handOver } from "#app/threads/thread-ports.ts";

export interface LogBatches {
  readonly read: ReadOrderedBatch;
  metrics(): Promise<readonly MetricSample[]>;
  close(): Promise<void>;
}

interface Started {
  readonly worker: PlaneWorker;
  readonly batches: ThreadBatches;
}

const STOP_MS = 1_000;

/** The thread that reads logs for jobs that push them. It starts with the first batch: most installations have no such job. */
export function createLogBatches(log: Log): LogBatches {
  let started: Started | null = null;
  return {
    read: (order) => (started ??= start(log)).batches.read(order),
    metrics: async () => started?.worker.metrics() ?? [],
    close: async () => {
      started?.batches.close();
      await started?.worker.stop(STOP_MS);
    },
  };
}

function start(log: Log): Started {
  const batches = createThreadBatches();
  const connect = (): void => batches.connect(handOver(worker));
  const worker = startPlaneWorker({
    name: "logpush",
    script: import.meta.resolve("#control/logpush/batch-thread.ts"),
    log,
    connect: () => ({ workerData: {}, transfer: [] }),
    onRestart: connect,
  });
  // Orders wait in the port until it listens.
  worker.listening.catch((error: unknown) => log.error({ err: error }, "the log reader thread failed to start"));
  connect();
  return { worker, batches };
}
