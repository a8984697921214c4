import type { Clock } from "#kernel/clock.ts";
import { begunLast, startHeartbeat } from "#kernel/process/heartbeat.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { createStallWatch, type Stall, STALL_MS } from "#kernel/process/stall-watch.ts";
import type { Log } from "#app/log/log.ts";

/** Blocked threads: their names, their activities, and for how long. */
export interface Stalls {
  /** Watches a thread until the returned function is called. */
  watch(thread: string, memory: SharedArrayBuffer): () => void;
  /** This thread's heartbeat, which the writer of events watches. */
  readonly own: SharedArrayBuffer;
  /** For the operator: the last stall of each thread that used the CPU meanwhile, for an hour. */
  list(): readonly string[];
  close(): void;
}

const TOLD_MS = 3_600_000;

export function createStalls({
  clock,
  log,
  metrics,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricRegistry;
}): Stalls {
  const lasts = new Map<string, { readonly text: string; readonly atMs: number }>();
  const count = ({ thread, begun, stalledMs, cpuMs }: Stall): void => {
    const labels = { thread };
    metrics.counter("selvedge_thread_stalls_total", `Times that a thread's event loop was blocked for more than ${STALL_MS} ms`, labels)
      .value++;
    metrics.counter("selvedge_thread_stalled_seconds_total", "Total time that threads' event loops were blocked", labels).value +=
      stalledMs / 1000;
    // Waiting for the CPU or the disk is a matter of the machine, and only logged.
    if ((cpuMs ?? 0) < STALL_MS) return;
    const atMs = clock.nowMs();
    const text = `thread ${thread} did not respond for ${(stalledMs / 1000).toFixed(1)} s until ${new Date(atMs).toISOString()}; last started: ${begun}`;
    lasts.set(thread, { text, atMs });
  };
  const fields = ({ thread, begun, stalledMs, cpuMs }: Stall): object => ({
    ...{ thread, begun, stalled_ms: stalledMs },
    ...(cpuMs === null ? {} : { cpu_ms: cpuMs }),
  });
  const watch = createStallWatch({
    clock,
    onStall: (stall) => log.error(fields(stall), "thread is unresponsive"),
    onOver: (stall) => {
      count(stall);
      log.warn(fields(stall), "thread is responsive again");
    },
  });
  const own = startHeartbeat((lateMs, cpuMs) => {
    if (lateMs <= STALL_MS) return;
    const stall = { thread: "control", begun: begunLast(), stalledMs: Math.round(lateMs), cpuMs: Math.round(cpuMs) };
    count(stall);
    log.warn(fields(stall), "thread is responsive again");
  });
  return {
    watch: watch.add,
    own,
    list: () => Array.from(lasts.values(), ({ text, atMs }) => (clock.nowMs() - atMs < TOLD_MS ? [text] : [])).flat(),
    close: watch.close,
  };
}
