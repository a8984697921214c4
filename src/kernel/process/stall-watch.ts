import type { Clock } from "#kernel/clock.ts";
import { heartbeatOf } from "./heartbeat.ts";

/** A thread whose event loop was blocked for a while. */
export interface Stall {
  readonly thread: string;
  /** The last activity that it started. */
  readonly begun: string;
  readonly stalledMs: number;
  /**
   * CPU time of the thread during the stall: low if it waited for the CPU or the disk. Null while the stall lasts,
   * because it is unknown.
   */
  readonly cpuMs: number | null;
}

/** Above the length of any tick of a thread, which is under a second; on a busy machine, it may wait for the CPU. */
export const STALL_MS = 2_000;
const LOOK_EVERY_MS = 500;

export interface StallWatch {
  /** Watches a thread until the returned function is called. */
  add(thread: string, memory: SharedArrayBuffer): () => void;
  /** Runs one check, as the timer does; for tests. */
  look(): void;
  close(): void;
}

interface Watched {
  readonly thread: string;
  readonly memory: SharedArrayBuffer;
  beats: number;
  cpuMs: number;
  /** Monotonic time of the last observed beat. */
  sinceMs: number;
  isStalled: boolean;
  /** The activity when the stall was detected: after recovery it has begun other ones. */
  begun: string;
}

/** Reports a blocked thread once, and once more with the duration when it recovers. */
export function createStallWatch(deps: {
  readonly clock: Pick<Clock, "monotonicMs">;
  onStall(stall: Stall): void;
  onOver(stall: Stall): void;
}): StallWatch {
  const all = new Set<Watched>();
  let lastMs = deps.clock.monotonicMs();
  const look = (): void => {
    const nowMs = deps.clock.monotonicMs();
    // While this thread or the whole machine was stopped, no beats could be observed.
    const stoodMs = Math.max(0, nowMs - lastMs - 2 * LOOK_EVERY_MS);
    lastMs = nowMs;
    for (const watched of all) {
      const { beats, cpuMs, begun } = heartbeatOf(watched.memory);
      if (!watched.isStalled) watched.sinceMs += stoodMs;
      const stall = { thread: watched.thread, begun, stalledMs: Math.round(nowMs - watched.sinceMs), cpuMs: null };
      if (beats !== watched.beats) {
        watched.beats = beats;
        watched.sinceMs = nowMs;
        if (watched.isStalled) deps.onOver({ ...stall, begun: watched.begun, cpuMs: Math.max(0, cpuMs - watched.cpuMs) });
        watched.cpuMs = cpuMs;
        watched.isStalled = false;
      } else if (!watched.isStalled && stall.stalledMs > STALL_MS) {
        watched.isStalled = true;
        watched.begun = begun;
        deps.onStall(stall);
      }
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return {
    add: (thread, memory) => {
      const { beats, cpuMs } = heartbeatOf(memory);
      const watched = { thread, memory, beats, cpuMs, sinceMs: deps.clock.monotonicMs(), isStalled: false, begun: "" };
      all.add(watched);
      return () => void all.delete(watched);
    },
    look,
    close: () => clearInterval(timer),
  };
}
