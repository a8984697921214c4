import type { MessagePort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import type { EventReads, ReadMessage, ReadReply } from "./read-client.ts";
import type { GatewayLogReads } from "./log-reads.ts";
import { cutResult } from "./reply-pieces.ts";

export interface ServedReads {
  readonly voice: ReturnType<typeof createWorkerChannel>;
  readonly reads: EventReads | GatewayLogReads;
  close(): void | Promise<void>;
}

/** The program of a thread that answers possibly slow queries about events. */
export function serveReads({ voice, reads, close }: ServedReads): void {
  const metrics = createMetrics();
  const answered = metrics.counter("selvedge_events_reads_total", "Event queries answered");
  const seconds = metrics.counter("selvedge_events_read_seconds_total", "Time spent on event queries");
  const attached = new Set<MessagePort>();

  const answer = async ({ request, name, args }: ReadMessage): Promise<ReadReply> => {
    const startMs = systemClock.monotonicMs();
    try {
      const ask = (reads as unknown as Readonly<Record<string, unknown>>)[name] as (...given: readonly unknown[]) => Promise<unknown>;
      const result = await ask(...args);
      const cut = cutResult(result);
      return cut === undefined ? { request, result } : { request, cut };
    } catch (error) {
      if (error instanceof PlatformError) return { request, error: { name: error.errorName, message: error.message } };
      voice.log("error", "an event query failed", { question: name, error: String(error) });
      return { request, error: { name: "internal", message: new PlatformError("internal").message } };
    } finally {
      answered.value++;
      seconds.value += (systemClock.monotonicMs() - startMs) / 1000;
    }
  };

  voice.serve({
    metrics,
    attach: (port) => {
      attached.add(port);
      port.on("message", (message: ReadMessage) => void answer(message).then((reply) => port.postMessage(reply)));
      port.on("close", () => attached.delete(port));
    },
    drain: async () => {
      for (const port of attached) port.close();
      await close();
    },
  });
  voice.listening({});
  giveBackHeapWhenQuiet();
}
