import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LogPosition } from "#events/logs/tail.ts";

/** The position of each job in the logs of this machine. */
export interface LogPositions {
  get(job: number): LogPosition | undefined;
  /** Survives the end of the process; a power cut may lose recent positions, whose logs are pushed again. */
  set(job: number, position: LogPosition): void;
  /** Deletes the positions of all other jobs. */
  keepOnly(jobs: ReadonlySet<number>): void;
}

/** Stored in a file beside the logs, because positions refer to these logs. */
export function createLogPositions(directory: string): LogPositions {
  const path = join(directory, "logpush.json");
  let positions: Map<string, LogPosition> | undefined;
  const read = (): Map<string, LogPosition> => (positions ??= new Map(Object.entries(stored(path))));
  const write = (): void => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, JSON.stringify(Object.fromEntries(read())), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  return {
    get: (job) => read().get(String(job)),
    set: (job, position) => {
      read().set(String(job), position);
      write();
    },
    keepOnly: (jobs) => {
      const gone = [...read().keys()].filter((job) => !jobs.has(Number(job)));
      for (const job of gone) read().delete(job);
      if (gone.length > 0) write();
    },
  };
}

/** An unreadable file counts as missing: logs are pushed again rather than skipped. */
function stored(path: string): Record<string, LogPosition> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, LogPosition>;
  } catch {
    return {};
  }
}
