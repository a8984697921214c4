import { type ChildProcess, spawn } from "node:child_process";
import type { PassedSocket } from "./inherited-sockets.ts";
import { type FromSuccessor, HANDED_OVER, type HandedOver, type ToSuccessor } from "./take-over.ts";

/** The process that takes over from this one. */
export interface Successor {
  readonly pid: number;
  /** Resolve when it has come that far; reject if it ends before, or at the timeout. */
  readonly loaded: Promise<void>;
  readonly serving: Promise<void>;
  tell(message: ToSuccessor): void;
  /** Lets this process end before it. */
  letGo(): void;
  kill(): void;
}

/** 0 to 2 are the standard streams, 3 is the channel. */
const FIRST_PASSED = 4;
/** Time for the start of a server with a million records on a slow and busy machine, as for its threads. */
const START_LIMIT_MS = 300_000;
/** An installation is new only at its first start. */
const ONLY_ONCE = "--new-installation";

/** Starts the program again, with this process's arguments and listening sockets. */
export function startSuccessor(sockets: readonly PassedSocket[], servesZones: boolean): Successor {
  const handed: HandedOver = { sockets: sockets.map((socket, i) => ({ ...socket, fd: FIRST_PASSED + i })), servesZones };
  const args = process.argv.slice(1).filter((argument) => argument !== ONLY_ONCE);
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    stdio: ["inherit", "inherit", "inherit", "ipc", ...sockets.map(({ fd }) => fd)],
    env: { ...process.env, [HANDED_OVER]: JSON.stringify(handed) },
  });
  // Its end is reported by `exit`.
  child.on("error", () => undefined);
  const steps = watchSteps(child);
  return {
    pid: child.pid ?? 0,
    ...steps,
    tell: (message) => void (child.connected && child.send(message)),
    letGo: () => child.unref(),
    kill: () => void child.kill(),
  };
}

function watchSteps(child: ChildProcess): Pick<Successor, "loaded" | "serving"> {
  const [loaded, serving] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const fail = (reason: string): void => {
    clearTimeout(limit);
    for (const step of [loaded, serving]) step.reject(new Error(reason));
  };
  const limit = setTimeout(() => {
    fail(`the new process did not serve within ${START_LIMIT_MS / 1000} seconds`);
    child.kill();
  }, START_LIMIT_MS);
  let reason = "";
  child.on("message", (message: FromSuccessor) => {
    if (message.type === "failed") {
      reason = message.reason;
      return;
    }
    if (message.type === "loaded") return loaded.resolve();
    clearTimeout(limit);
    serving.resolve();
  });
  child.on("error", (error) => fail(`the new process could not be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    const how = signal ?? `exit code ${code}`;
    fail(reason === "" ? `the new process ended (${how}) before it served; its log says why` : `the new process cannot start: ${reason}`);
  });
  // Their users are notified of the failure.
  for (const { promise } of [loaded, serving]) promise.catch(() => undefined);
  return { loaded: loaded.promise, serving: serving.promise };
}
