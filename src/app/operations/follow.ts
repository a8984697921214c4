import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isatty } from "node:tty";
import { readRunFile } from "#app/operations/run-file.ts";

const LOOK_EVERY_MS = 250;
const PASSED_ON = ["SIGTERM", "SIGUSR1", "SIGUSR2", "SIGINT", "SIGHUP"] as const;
/** A terminal sends these to both processes itself. */
const OF_TERMINALS: ReadonlySet<string> = new Set(["SIGINT", "SIGHUP"]);

/**
 * Waits for the end of the server that has taken over, and of its successors. A parent (a shell, a container, a
 * supervisor) takes the end of this process for the end of the server, and sends it the signals.
 */
export async function follow(dataDir: string, firstPid: number): Promise<void> {
  let pid = firstPid;
  const passOn = (signal: NodeJS.Signals): void => {
    try {
      process.kill(pid, signal);
    } catch {
      // It has just ended.
    }
  };
  for (const signal of PASSED_ON) {
    process.removeAllListeners(signal);
    process.on(signal, isatty(0) && OF_TERMINALS.has(signal) ? () => undefined : passOn);
  }
  for (;;) {
    while (runs(pid)) await delay(LOOK_EVERY_MS);
    const next = readRunFile(dataDir)?.pid ?? pid;
    if (next === pid || !runs(next)) return;
    pid = next;
  }
}

/** A process that has ended is listed until its parent has waited for it (proc_pid_stat(5)). */
function runs(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !"ZX".includes(stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3));
  } catch {
    return false;
  }
}
