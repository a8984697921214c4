import { rmSync, statSync } from "node:fs";

/**
 * The inodes of an SQLite file and its log. A connection goes on with the files that it has opened although others have their names by now:
 * what it writes then is lost, and what it reads is of the past (https://www.sqlite.org/howtocorrupt.html §2.4, §4.1).
 */
export interface FileIdentity {
  readonly file: string | null;
  readonly log: string | null;
}

export const fileIdentity = (path: string): FileIdentity => ({ file: inodeOf(path), log: inodeOf(`${path}-wal`) });

export const isSameFile = (a: FileIdentity, b: FileIdentity): boolean => a.file === b.file && a.log === b.log;

/** Whether another file has the name of the first one, beside a log that is still of the first one: who opens both reads nonsense. */
export const hasForeignLog = (before: FileIdentity, now: FileIdentity): boolean =>
  now.file !== before.file && now.log === before.log && now.log !== null;

/** Call without a connection that writes. Readers that have the old files open keep them. */
export function removeForeignLog(before: FileIdentity, path: string): void {
  if (!hasForeignLog(before, fileIdentity(path))) return;
  // The log last: until then no reader opens the file.
  for (const part of ["-shm", "-wal"]) rmSync(path + part, { force: true });
}

function inodeOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}/${stat.ino}`;
}
