import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { createLazyWorker, type LazyWorker } from "#app/threads/lazy-worker.ts";
import { clickHouseOf, retentionOf } from "./plane-configs.ts";
import { type PlaneWorker, startPlaneWorker } from "#app/threads/plane-worker.ts";
import { channel, handOver } from "#app/threads/thread-ports.ts";
import type { PlanesDeps } from "./planes-deps.ts";
import { WATCH_LIMITS } from "#app/threads/watchdog.ts";

/** The threads that other threads send to. */
export interface Sinks {
  readonly writer: PlaneWorker;
  /** Starts with the first body to scan: most installations scan none. */
  readonly detector: LazyWorker;
  /** Detection first, because it feeds the writer. */
  stop(): Promise<void>;
}

/** Threads to reconnect when a sink has been restarted. */
export interface Senders {
  readonly serving: readonly PlaneWorker[];
  readonly edges: readonly PlaneWorker[];
}

/** Time for a thread that only writes its remaining data. */
const STOP_MS = 5_000;

export function startSinks(
  { config, log, early, metrics, files, publisher, stalls, eventsFree, uplink }: PlanesDeps,
  { serving, edges }: Senders,
): Sinks {
  const writer = startPlaneWorker({
    name: "events",
    ...(uplink === undefined
      ? { script: import.meta.resolve("#events/write/writer.ts"), early }
      : { script: import.meta.resolve("#events/write/spool-writer.ts") }),
    ...{ log, stalls },
    isLazy: eventsFree !== undefined,
    connect: () => {
      const data = { path: files.events, ports: [], retention: retentionOf(config), control: stalls.own, mayOpen: eventsFree };
      const clickHouse = clickHouseOf(config);
      if (uplink === undefined) return { workerData: clickHouse === undefined ? data : { ...data, clickHouse }, transfer: [] };
      const port = uplink();
      return { workerData: { ...data, uplink: port }, transfer: [port] };
    },
    onRestart: () => [detector, ...serving].forEach((worker) => worker.reconnect("events", handOver(writer))),
  });
  const restarts = metrics.counter("selvedge_detection_restarts_total", "Detector threads restarted after a crash");
  const silent = metrics.counter("selvedge_detection_terminated_total", "Detector threads terminated as unresponsive");
  const detector = createLazyWorker("detector", () =>
    startPlaneWorker({
      name: "detector",
      script: import.meta.resolve("#edge/detection/worker.ts"),
      ...{ log, stalls },
      isLazy: true,
      watch: WATCH_LIMITS,
      onSilent: () => void silent.value++,
      connect: () => {
        const events = handOver(writer);
        const feed = channel();
        publisher.attach(createMessagePortFeed(feed.near));
        const data = {
          tap: [],
          events,
          feed: feed.far,
          lastGoodPath: files.lastGood,
          sealKeyPath: files.keysOf?.("edge") ?? files.sealKey,
        };
        return { workerData: data, transfer: [events, feed.far] };
      },
      onRestart: () => {
        restarts.value++;
        edges.forEach((worker) => worker.reconnect("detector", handOver(detector)));
      },
    }),
  );
  return {
    writer,
    detector,
    stop: async () => {
      await detector.stop(STOP_MS);
      await writer.stop(STOP_MS);
    },
  };
}
