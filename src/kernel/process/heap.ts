import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How often a thread looks whether it has had little to do since it last looked, and how much is little. */
const LOOK_MS = 1_000;
const QUIET_SHARE = 0.05;
/** What of a processor a thread takes that has come to work, more than what is loaded after its start. */
const WORK_SHARE = 0.2;
/** For so many looks a thread that has worked must have been quiet: work that comes and goes would meet a heap that has to grow anew. */
const LOOKS_AFTER_WORK = 30;
/** After so many looks with little to do it gives back what it can amid that little: ten minutes. */
const LOOKS_AMID_WORK = 600;
/** What a collection may be done for: it takes some ten milliseconds. */
const WORTH_BYTES = 4_000_000;

/**
 * From now on, when this thread has little to do and its heap has grown since the last time, what is not needed goes back to
 * the system: half of it, after a program was loaded. Once there was work, or from the second time on, it waits longer and
 * compiled code stays: each request would cost half as much again for a while. The thread stands still for a millisecond a
 * megabyte that is in use, so a heap with more than `bytesMax` of these stays as it is. Where `workDone` tells how much the
 * thread has done, it waits for a time without any, unless there has been little for `looksAmidWork` looks.
 */
export function giveBackHeapWhenQuiet({
  bytesMax = 64_000_000,
  lookMs = LOOK_MS,
  looksAmidWork = LOOKS_AMID_WORK,
  workDone = (): number => 0,
  giveBack = giveBackHeap,
} = {}): void {
  let cpu = process.threadCpuUsage();
  let left = 0;
  let done = workDone();
  /** Looks in a row with little to do, and those of them since anything was done. */
  let quietLooks = 0;
  let idleLooks = 0;
  let hasWorked = false;
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(cpu);
    cpu = process.threadCpuUsage();
    const share = (user + system) / 1_000 / lookMs;
    hasWorked ||= share > WORK_SHARE;
    const doneBefore = done;
    done = workDone();
    quietLooks = share > QUIET_SHARE ? 0 : quietLooks + 1;
    idleLooks = share > QUIET_SHARE || done !== doneBefore ? 0 : idleLooks + 1;
    if (idleLooks < (hasWorked ? LOOKS_AFTER_WORK : 1) && quietLooks < looksAmidWork) return;
    const size = heapBytes();
    if (size < left + WORTH_BYTES || getHeapStatistics().used_heap_size > bytesMax || !giveBack(hasWorked)) return;
    hasWorked = true;
    quietLooks = 0;
    idleLooks = 0;
    left = heapBytes();
    cpu = process.threadCpuUsage();
  }, lookMs).unref();
}

const heapBytes = (): number => getHeapStatistics().total_physical_size;

/**
 * Returns to the system what this thread's heap does not need, which V8 would keep for later; false where it cannot right now.
 * With `keepsCode` once over: repeated collections without any work between them drop what was compiled.
 */
export function giveBackHeap(keepsCode = false): boolean {
  // Only a context made while the flag is set has the function. Compiled code is cached by flags, so it does not stay set.
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("globalThis.gc");
  setFlagsFromString("--no-expose-gc");
  // Another thread has taken the flag back.
  if (typeof collect !== "function") return false;
  collect({ type: "major", execution: "sync", flavor: keepsCode ? "regular" : "last-resort" });
  return true;
}
