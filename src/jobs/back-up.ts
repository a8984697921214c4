import type { Job } from "./job.ts";

const EVERY_MS = 60_000;

/** The configured backups. */
export interface ScheduledBackups {
  /** Makes the backup that is due; null if none is. Rejects if it fails; a later call tries again. */
  makeDue(): Promise<{ readonly file: string; readonly bytes: number; readonly removed: number } | null>;
}

/** Makes the backups at the operator's intervals. */
export const backUp = (backups: ScheduledBackups): Job => ({ name: "back-up", everyMs: EVERY_MS, run: () => backups.makeDue() });
