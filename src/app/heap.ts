import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Returns to the system what loading the program has left on this thread's heap: more than half of it, which V8 would
 * keep for later. The thread stands still for a tenth of a second of CPU time, so this is for the main thread, once.
 */
export function giveBackHeap(): void {
  // Only a context made while the flag is set has the function. Compiled code is cached by flags, so it does not stay set.
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;
  setFlagsFromString("--no-expose-gc");
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
