import { spawn } from "node:child_process";
import type { LeveledLog } from "#app/log/log.ts";

/** systemd, if it has started the server and wants notifications (`Type=notify`, `WatchdogSec=`; sd_notify(3)). */
export interface ServiceManager {
  /** Every plane serves. From now on systemd is notified that the main thread responds, four times in each watchdog period. */
  ready(): void;
  stopping(): void;
  /** Another process is the service from now on. */
  handedOver(): void;
}

export interface ServiceManagerDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** Whether this process has taken over from the one that the manager started. */
  readonly hasTakenOver: boolean;
  readonly log: Pick<LeveledLog, "warn">;
}

const NOTIFY_MS_MAX = 10_000;

/** Node.js has no datagrams over UNIX sockets, so systemd's own program sends them. Does nothing under any other manager. */
export function createServiceManager({ env, pid, hasTakenOver, log }: ServiceManagerDeps): ServiceManager {
  let hasWarned = false;
  const failed = (error: unknown): void => {
    if (!hasWarned) log.warn({ err: error }, "systemd-notify failed; systemd does not know the state of the server");
    hasWarned = true;
  };
  const notify = (...states: readonly string[]): void => {
    if (env["NOTIFY_SOCKET"] === undefined) return;
    const child = spawn("systemd-notify", states, { stdio: "ignore", timeout: NOTIFY_MS_MAX });
    child.on("error", failed);
    child.on("exit", (code) => code !== 0 && failed(new Error(`systemd-notify ended with ${code ?? "a signal"}`)));
    child.unref();
  };
  const everyMs = watchdogMs(env, hasTakenOver ? undefined : pid) / 4;
  let timer: NodeJS.Timeout | undefined;
  return {
    ready: () => {
      notify(...(hasTakenOver ? [`MAINPID=${pid}`] : []), "READY=1", "STATUS=serving");
      if (everyMs > 0) timer = setInterval(() => notify("WATCHDOG=1"), everyMs).unref();
    },
    handedOver: () => clearInterval(timer),
    stopping: () => {
      // A draining server may be busy with nothing else; TimeoutStopSec bounds it.
      clearInterval(timer);
      notify("STOPPING=1", "STATUS=draining");
    },
  };
}

/** The watchdog's period; 0 without a watchdog, and if it watches another process. Without `pid`, WATCHDOG_PID is not compared. */
function watchdogMs(env: ServiceManagerDeps["env"], pid: number | undefined): number {
  const usec = Number(env["WATCHDOG_USEC"] ?? 0);
  const isOurs = pid === undefined || env["WATCHDOG_PID"] === undefined || env["WATCHDOG_PID"] === String(pid);
  return isOurs && Number.isFinite(usec) ? usec / 1000 : 0;
}
