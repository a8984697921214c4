import type { Job } from "./job.ts";

const EVERY_MS = 60_000;

/** Backups that are due by the configuration. */
export interface ScheduledBackups {
  /** Null where none is due. Rejects where one fails; the next call after a while tries again. */
  makeDue(): Promise<{ readonly file: string; readonly bytes: number; readonly removed: number } | null>;
}

/** Makes the backups that the operator wants at intervals. */
export const backUp = (backups: ScheduledBackups): Job => ({ name: "back-up", everyMs: EVERY_MS, run: () => backups.makeDue() });
