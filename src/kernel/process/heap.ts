import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How often a thread checks whether it was idle since the last check, and which load counts as idle. */
const LOOK_MS = 1_000;
const QUIET_SHARE = 0.05;
/** Share of a CPU that counts as work, above the load of modules after start. */
const WORK_SHARE = 0.2;
/** Number of idle checks after the start before memory is returned: a server that is started for a moment spares the collection. */
const LOOKS_AFTER_START = 10;
/** Number of idle checks after work before memory is returned: intermittent work would have to grow the heap again. */
const LOOKS_AFTER_WORK = 30;
/** Number of low-load checks after which memory is returned despite some work: ten minutes. */
const LOOKS_AMID_WORK = 600;
/** Minimum size to return: a collection takes about ten milliseconds. */
const WORTH_BYTES = 4_000_000;

/**
 * Returns unused heap to the system whenever this thread is idle and its heap has grown since the last time: half of it,
 * after a program was loaded. After work, or from the second time on, it waits longer and keeps compiled code, because
 * requests would otherwise cost half as much again for a while. The thread stops for a millisecond per live megabyte, so
 * a heap with more than `bytesMax` live bytes is left alone. If `workDone` reports the amount of work, it waits for a
 * time without any, or for `looksAmidWork` checks with little.
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
  /** Consecutive idle checks, and those of them without any work. */
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
    if (idleLooks < (hasWorked ? LOOKS_AFTER_WORK : LOOKS_AFTER_START) && quietLooks < looksAmidWork) return;
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
 * Returns unused heap to the system; returns false if that is not possible now. With `keepsCode`, collects once only:
 * repeated collections without work in between discard compiled code.
 */
export function giveBackHeap(keepsCode = false): boolean {
  // Only a context created while the flag is set has the function. The flag is reset, because compiled code is cached by flags.
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("globalThis.gc");
  setFlagsFromString("--no-expose-gc");
  // Another thread has reset the flag.
  if (typeof collect !== "function") return false;
  collect({ type: "major", execution: "sync", flavor: keepsCode ? "regular" : "last-resort" });
  return true;
}
