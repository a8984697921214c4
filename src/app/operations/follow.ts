import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isatty } from "node:tty";
import { readRunFile } from "#app/operations/run-file.ts";

const LOOK_EVERY_MS = 250;
const PASSED_ON = ["SIGTERM", "SIGUSR1", "SIGUSR2", "SIGINT", "SIGHUP"] as const;
const ENDING: ReadonlySet<string> = new Set(["SIGTERM", "SIGINT"]);
/** A terminal sends these to both processes itself. */
const OF_TERMINALS: ReadonlySet<string> = new Set(["SIGINT", "SIGHUP"]);

/** Another process is the server now. A parent (a shell, a container, a supervisor) still sends its signals to this one. */
export interface Following {
  /** Resolves at the first signal that ends the server. It is passed on by `drained`, so that this process can say first that it has drained. */
  readonly asked: Promise<void>;
  drained(): void;
  /** Resolves when that process and its successors have ended. A parent takes the end of this process for the end of the server. */
  ended(dataDir: string): Promise<void>;
}

/** From now on, signals are for that process. */
export function follow(firstPid: number): Following {
  let pid = firstPid;
  let hasDrained = false;
  const waiting: NodeJS.Signals[] = [];
  const asked = Promise.withResolvers<void>();
  const passOn = (signal: NodeJS.Signals): void => {
    if (ENDING.has(signal)) asked.resolve();
    if (isatty(0) && OF_TERMINALS.has(signal)) return;
    if (!hasDrained && ENDING.has(signal)) return void waiting.push(signal);
    try {
      process.kill(pid, signal);
    } catch {
      // It has just ended.
    }
  };
  for (const signal of PASSED_ON) {
    const before = process.rawListeners(signal) as NodeJS.SignalsListener[];
    // In this order, because Node.js discards a signal that has just arrived when its last listener is removed.
    process.on(signal, passOn);
    for (const listener of before) process.off(signal, listener);
  }
  return {
    asked: asked.promise,
    drained: () => {
      hasDrained = true;
      for (const signal of waiting) passOn(signal);
    },
    ended: async (dataDir) => {
      for (;;) {
        while (runs(pid)) await delay(LOOK_EVERY_MS);
        const next = readRunFile(dataDir)?.pid ?? pid;
        if (next === pid || !runs(next)) return;
        pid = next;
      }
    },
  };
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
