import { readlinkSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** Nice value of background threads: about a third of the CPU share of a normal thread, setpriority(2). */
const BACKGROUND_NICENESS = 5;

/**
 * Lowers the priority of the calling thread below threads that answer requests. Linux only, where each thread has its
 * own priority; elsewhere it would apply to the whole process.
 */
export function runInBackground(): void {
  if (process.platform !== "linux") return;
  try {
    // A server started with a lower priority keeps it.
    if (getPriority(0) < BACKGROUND_NICENESS) setPriority(0, BACKGROUND_NICENESS);
  } catch {
    // If a sandbox forbids the call, the thread keeps its priority.
  }
}

/** The system's id of the calling thread, gettid(2); 0 if unknown. */
export function systemThread(): number {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1)) || 0;
  } catch {
    return 0;
  }
}
