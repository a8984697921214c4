import { readFileSync } from "node:fs";
import { processTree } from "../test/bench/cpu-time.ts";

/** Interval between two checks. */
const LOOK_MS = 1_000;

/**
 * Kills each child of the process that has run for longer than this, with its descendants, until it is stopped: a
 * process that a failed test left running would keep its parent alive.
 */
export function endLateChildren(pid: number, limitMs: number, tell: (child: number) => void): { stop(): void } {
  let seen = new Map<number, number>();
  const look = (): void => {
    seen = new Map(childrenOf(pid).map((child) => [child, seen.get(child) ?? performance.now()]));
    for (const [child, since] of seen) {
      if (performance.now() - since < limitMs) continue;
      tell(child);
      for (const member of processTree(child)) kill(member);
    }
  };
  const timer = setInterval(look, Math.min(LOOK_MS, limitMs)).unref();
  return { stop: () => clearInterval(timer) };
}

/** Empty if the kernel does not list children (proc(5), CONFIG_PROC_CHILDREN). */
function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
