import type { Clock } from "#kernel/clock.ts";
import { heartbeatOf } from "./heartbeat.ts";

/** A thread that took no turns for a while. */
export interface Stall {
  readonly thread: string;
  /** What it had begun last. */
  readonly begun: string;
  readonly stalledMs: number;
  /** Of that, what the thread took of the processor: little where it waited for that, or for the disk. Null while it lasts: nobody can tell. */
  readonly cpuMs: number | null;
}

/** No turn of a thread of ours takes a second; on a busy machine it may have to wait for the processor. */
export const STALL_MS = 2_000;
const LOOK_EVERY_MS = 500;

export interface StallWatch {
  /** Looks after a thread until the function that is given back is called. */
  add(thread: string, memory: SharedArrayBuffer): () => void;
  /** As the timer does; for tests. */
  look(): void;
  close(): void;
}

interface Watched {
  readonly thread: string;
  readonly memory: SharedArrayBuffer;
  beats: number;
  cpuMs: number;
  /** When it was seen to beat last. */
  sinceMs: number;
  isStalled: boolean;
}

/** Tells once that a thread takes no turns, and once, when it does again, how long that was. */
export function createStallWatch(deps: {
  readonly clock: Pick<Clock, "monotonicMs">;
  onStall(stall: Stall): void;
  onOver(stall: Stall): void;
}): StallWatch {
  const all = new Set<Watched>();
  let lastMs = deps.clock.monotonicMs();
  const look = (): void => {
    const nowMs = deps.clock.monotonicMs();
    // While this thread, or the whole machine, stood still, nobody could be seen to beat.
    const stoodMs = Math.max(0, nowMs - lastMs - 2 * LOOK_EVERY_MS);
    lastMs = nowMs;
    for (const watched of all) {
      const { beats, cpuMs, begun } = heartbeatOf(watched.memory);
      if (!watched.isStalled) watched.sinceMs += stoodMs;
      const stall = { thread: watched.thread, begun, stalledMs: Math.round(nowMs - watched.sinceMs), cpuMs: null };
      if (beats !== watched.beats) {
        watched.beats = beats;
        watched.sinceMs = nowMs;
        if (watched.isStalled) deps.onOver({ ...stall, cpuMs: Math.max(0, cpuMs - watched.cpuMs) });
        watched.cpuMs = cpuMs;
        watched.isStalled = false;
      } else if (!watched.isStalled && stall.stalledMs > STALL_MS) {
        watched.isStalled = true;
        deps.onStall(stall);
      }
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return {
    add: (thread, memory) => {
      const { beats, cpuMs } = heartbeatOf(memory);
      const watched = { thread, memory, beats, cpuMs, sinceMs: deps.clock.monotonicMs(), isStalled: false };
      all.add(watched);
      return () => void all.delete(watched);
    },
    look,
    close: () => clearInterval(timer),
  };
}
