import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LevelOutcome } from "./level-request.ts";
import type { ListenerAddresses } from "./ready.ts";

/** Data for `selvedge status` and a second start about a running server; no secrets. */
export interface RunFile extends Omit<ListenerAddresses, "ops"> {
  /** Absent in older servers. */
  readonly ops?: string;
  readonly pid: number;
  readonly started_at: string;
  /** The last reload of the configuration; absent before the first. */
  readonly last_reload?: ReloadOutcome;
  /** The answer to the last `selvedge log level`; absent before the first. */
  readonly last_log_level?: LevelOutcome;
  /** The last restart that failed; absent before one has. */
  readonly failed_restart?: { readonly at: string; readonly problem: string };
}

export interface ReloadOutcome {
  /** Counted from the start of the server. */
  readonly number: number;
  /** Why nothing was changed; empty if the new configuration is in force. */
  readonly problems: readonly string[];
  /** Keys with new values. */
  readonly changed: readonly string[];
  /** Keys whose new values wait for a restart. */
  readonly need_restart: readonly string[];
  readonly has_new_certificate: boolean;
}

const path = (dataDir: string): string => join(dataDir, "run.json");

/** Null without a server. Throws if this user may not read the file. */
export function readRunFile(dataDir: string): RunFile | null {
  try {
    return JSON.parse(readFileSync(path(dataDir), "utf8")) as RunFile;
  } catch (error) {
    const { code = "", syscall } = error as NodeJS.ErrnoException;
    if (!["EACCES", "EPERM"].includes(code)) return null;
    const advice = `this user may not read ${path(dataDir)} (${code}): run the command as the user of the server`;
    throw Object.assign(new Error(advice, { cause: error }), { code, syscall });
  }
}

export const writeRunFile = (dataDir: string, run: RunFile): void => {
  // Readers never see half of it.
  const aside = `${path(dataDir)}.new`;
  writeFileSync(aside, `${JSON.stringify(run, null, 2)}\n`, { mode: 0o600 });
  renameSync(aside, path(dataDir));
};

const RETRY_MS = 1_000;

export interface RunFileKeeper {
  reloaded(outcome: ReloadOutcome): void;
  answeredLevels(outcome: LevelOutcome): void;
  restartFailed(problem: string, nowMs: number): void;
  /** Stops writing; another process takes over. */
  leave(): void;
  remove(): void;
}

/** Writes it now, or later if the disk is full, which is reported once to `onError`. */
export function keepRunFile(dataDir: string, run: RunFile, onError: (error: unknown) => void): RunFileKeeper {
  let timer: NodeJS.Timeout | undefined;
  let current = run;
  const write = (): void => {
    try {
      writeRunFile(dataDir, current);
    } catch (error) {
      if (timer === undefined) onError(error);
      timer = setTimeout(write, RETRY_MS).unref();
    }
  };
  write();
  const change = (changed: Partial<RunFile>): void => {
    // few: the keys of this file
    current = { ...current, ...changed };
    clearTimeout(timer);
    timer = undefined;
    write();
  };
  return {
    reloaded: (outcome) => change({ last_reload: outcome }),
    answeredLevels: (outcome) => change({ last_log_level: outcome }),
    restartFailed: (problem, nowMs) => change({ failed_restart: { at: new Date(nowMs).toISOString(), problem } }),
    leave: () => clearTimeout(timer),
    remove: () => {
      clearTimeout(timer);
      rmSync(path(dataDir), { force: true });
    },
  };
}

/** Signal 0 only checks whether the process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
