import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { giveToOwner } from "#app/control/give-to-owner.ts";
import type { MetricSample } from "#kernel/process/metrics.ts";

/** The newest backup of a data directory, by whomever it was made. */
export interface LastBackup {
  readonly created_on: string;
  readonly file: string;
  readonly bytes: number;
}

export const lastBackupPath = (dataDir: string): string => join(dataDir, "last-backup.json");

export function readLastBackup(dataDir: string): LastBackup | null {
  try {
    const { created_on, file, bytes } = JSON.parse(readFileSync(lastBackupPath(dataDir), "utf8")) as LastBackup;
    return Number.isNaN(Date.parse(created_on)) ? null : { created_on, file, bytes };
  } catch {
    // Without a file, or with an incomplete one, no backup is known.
    return null;
  }
}

/** False if this user may not write there, because it only reads the data directory. */
export function noteLastBackup(dataDir: string, last: LastBackup): boolean {
  const path = lastBackupPath(dataDir);
  const aside = `${path}.${process.pid}`;
  try {
    writeFileSync(aside, `${JSON.stringify(last)}\n`, { mode: 0o600 });
    giveToOwner(dataDir, [basename(aside)]);
    renameSync(aside, path);
    return true;
  } catch {
    return false;
  }
}

/** Empty before the first backup: a monitor also alerts on a missing value. */
export function backupSamples(dataDir: string): readonly MetricSample[] {
  const last = readLastBackup(dataDir);
  if (last === null) return [];
  const gauge = (name: string, help: string, value: number): MetricSample => ({ name, help, type: "gauge", labels: {}, value });
  return [
    gauge("selvedge_backup_last_timestamp_seconds", "Time of the last backup, in seconds since 1970", Date.parse(last.created_on) / 1000),
    gauge("selvedge_backup_last_bytes", "Size of the last backup in bytes", last.bytes),
  ];
}
