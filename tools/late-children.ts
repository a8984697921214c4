import { readFileSync } from "node:fs";
import { processTree } from "../test/bench/cpu-time.ts";

/** How often it is looked. */
const LOOK_MS = 1_000;

/**
 * Ends each child of the process that has run for longer than this, and whatever it has started, until it is stopped:
 * what a test that failed has left open keeps its process from ending.
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

/** None where the kernel does not tell (proc(5), CONFIG_PROC_CHILDREN). */
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
