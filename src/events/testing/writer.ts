import { once } from "node:events";
import { dirname } from "node:path";
import type { TestContext } from "node:test";
import { MessageChannel, Worker } from "node:worker_threads";
import { createMetrics, type MetricSample } from "#kernel/process/metrics.ts";
import type { BatchAnswer, BatchMessage, NodeBatch } from "#events/rows/node-batch.ts";
import { type ClosableEventSink, createEventSink } from "#events/write/sink.ts";
import { DEFAULT_RETENTION, type WriterData } from "#events/write/writer-config.ts";

/** The thread that writes, as the server starts it. */
export interface TestWriter {
  readonly sink: ClosableEventSink;
  /** Lines that it has logged. */
  readonly logged: readonly string[];
  metric(name: string): Promise<number>;
  /** Gives it a batch of a node. */
  take(batch: NodeBatch): Promise<BatchAnswer>;
  /** Commits the received rows and ends the thread. */
  drain(timeoutMs?: number): Promise<void>;
}

/** `first`: a module that the thread loads before its program. */
export async function startTestWriter(
  t: TestContext,
  path: string,
  first?: string,
  more: Partial<Pick<WriterData, "clickHouse">> = {},
): Promise<TestWriter> {
  const { port1, port2 } = new MessageChannel();
  const batches = new MessageChannel();
  const thread = new Worker(new URL("../write/writer.ts", import.meta.url), {
    workerData: { path, ports: [port1, batches.port1], retention: DEFAULT_RETENTION, ...more },
    transferList: [port1, batches.port1],
    ...(first === undefined ? {} : { execArgv: ["--import", first] }),
  });
  t.after(() => thread.terminate());
  const logged: string[] = [];
  const waiting = new Map<string, (message: { readonly samples: readonly MetricSample[] }) => void>();
  thread.on("message", (message) => {
    if (message.type === "log") logged.push(message.message);
    waiting.get(message.type)?.(message);
  });
  const said = (type: string) => new Promise<{ readonly samples: readonly MetricSample[] }>((resolve) => waiting.set(type, resolve));
  const ended = once(thread, "exit").then(() => assertNever(dirname(path)));
  await Promise.race([said("listening"), ended]);
  const sink = createEventSink({ port: port2, metrics: createMetrics(), flushMs: 5 });
  return {
    sink,
    logged,
    metric: async (name) => {
      const answer = said("metrics");
      thread.postMessage({ type: "metrics", request: 1 });
      const { samples } = await Promise.race([answer, ended]);
      return samples.filter((sample) => sample.name === name).reduce((sum, { value }) => sum + value, 0);
    },
    take: async (batch) => {
      batches.port2.postMessage({ type: "batch", request: 1, batch } satisfies BatchMessage);
      const [answer] = (await once(batches.port2, "message")) as [BatchAnswer];
      return answer;
    },
    drain: async (timeoutMs = 2_000) => {
      await sink.close();
      const drained = said("drained");
      thread.postMessage({ type: "drain", timeoutMs });
      await drained;
    },
  };
}

function assertNever(directory: string): never {
  throw new Error(`the thread that writes in ${directory} has ended`);
}
