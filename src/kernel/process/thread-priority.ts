import { readlinkSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** Nice value of threads that nobody waits for: about a third of the share of one that answers, setpriority(2). */
const BACKGROUND_NICENESS = 5;

/**
 * Lets threads that answer requests run before the calling one where both want the same processor. On Linux alone: each
 * thread has a priority of its own there, elsewhere this would hold for the whole process.
 */
export function runInBackground(): void {
  if (process.platform !== "linux") return;
  try {
    // A server that was started with a lower priority keeps it.
    if (getPriority(0) < BACKGROUND_NICENESS) setPriority(0, BACKGROUND_NICENESS);
  } catch {
    // Where a sandbox forbids the call, the thread works as any other does.
  }
}

/** The number by which the system knows the calling thread, gettid(2); 0 where it is not known. */
export function systemThread(): number {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1)) || 0;
  } catch {
    return 0;
  }
}
