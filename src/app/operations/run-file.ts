import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What `selvedge status` and a second start need to know about a running server; no secrets. */
export interface RunFile {
  readonly pid: number;
  readonly api: string;
  /** Servers before this one had none. */
  readonly ops?: string;
  readonly gateway: string;
  readonly dns: string;
  readonly dot: string;
  readonly http: string;
  readonly https: string;
  readonly started_at: string;
}

const path = (dataDir: string): string => join(dataDir, "run.json");

export function readRunFile(dataDir: string): RunFile | null {
  if (!existsSync(path(dataDir))) return null;
  try {
    return JSON.parse(readFileSync(path(dataDir), "utf8")) as RunFile;
  } catch {
    return null;
  }
}

export const writeRunFile = (dataDir: string, run: RunFile): void =>
  writeFileSync(path(dataDir), `${JSON.stringify(run, null, 2)}\n`, { mode: 0o600 });

const RETRY_MS = 1_000;

/** Writes it, or once there is room where the disk is full, which `onError` is told of once. */
export function keepRunFile(dataDir: string, run: RunFile, onError: (error: unknown) => void): { remove(): void } {
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    try {
      writeRunFile(dataDir, run);
    } catch (error) {
      if (timer === undefined) onError(error);
      timer = setTimeout(write, RETRY_MS).unref();
    }
  };
  write();
  return {
    remove: () => {
      clearTimeout(timer);
      rmSync(path(dataDir), { force: true });
    },
  };
}

/** Signal 0 only asks whether the process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
