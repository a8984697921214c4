import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LogPosition } from "#events/logs/tail.ts";

/** How far each job is in the logs of this machine. */
export interface LogPositions {
  get(job: number): LogPosition | undefined;
  /** On the disk when it returns, should the process end then; a power cut may take some back, which are pushed again. */
  set(job: number, position: LogPosition): void;
  /** Forgets all other jobs. */
  keepOnly(jobs: ReadonlySet<number>): void;
}

/** A file beside the logs, so that it means those and goes where they go. */
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

/** What cannot be read is as if it were not there: logs are pushed again then, and none is left out. */
function stored(path: string): Record<string, LogPosition> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, LogPosition>;
  } catch {
    return {};
  }
}
