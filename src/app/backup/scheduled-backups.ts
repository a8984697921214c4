import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Clock } from "#kernel/clock.ts";
import type { AgeLock } from "#kernel/crypto/age-keys.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { ScheduledBackups } from "#jobs/back-up.ts";
import { type Config, databaseUrl } from "#app/config/config.ts";
import { packageVersion } from "#app/config/package-version.ts";
import { openObjectStore } from "#app/config/object-store.ts";
import { readRegularFile } from "#kernel/process/regular-file.ts";
import { controlPathOf, readPassphrase } from "./backup-files.ts";
import { readLastBackup } from "./last-backup.ts";
import type { BackupMade, BackupRequest } from "./make-backup.ts";

export interface ScheduledBackupsDeps {
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  /** As of each check. */
  config(): Config;
}

/** Names of scheduled backups sort by their time. */
const NAME = /^selvedge-\d{8}T\d{6}Z\.tar\.gz(?:\.age)?$/;
const HOUR_MS = 3_600_000;
/** Delay after a failed backup: a disk may have space again, and a full log helps nobody. */
const RETRY_MS = 600_000;
/** A backup that takes longer has hung. */
const BACKUP_MS_MAX = 6 * HOUR_MS;

export function createScheduledBackups({ clock, metrics, config }: ScheduledBackupsDeps): ScheduledBackups {
  const failed = metrics.counter("selvedge_backup_failures_total", "Scheduled backups that failed");
  let notBeforeMs = 0;
  /** The backup that the bucket does not have yet; a later one replaces it. */
  let uncopied: string | null = null;
  const copy = async ({ backup, s3 }: Config): Promise<void> => {
    if (uncopied === null) return;
    const name = uncopied;
    await openObjectStore({ s3 }, clock, "backup.in_s3").putFile(`backups/${name}`, join(backup.directory, name));
    if (uncopied === name) uncopied = null;
  };
  const copyAgain = async (nowMs: number): Promise<void> => {
    if (uncopied === null) return;
    notBeforeMs = nowMs + RETRY_MS;
    await copy(config()).catch((error: unknown) => {
      failed.value++;
      throw error;
    });
  };
  return {
    makeDue: async () => {
      const { data, backup, ...rest } = config();
      const nowMs = clock.nowMs();
      const lastMs = Date.parse(readLastBackup(data)?.created_on ?? "") || 0;
      if (backup.every_hours === 0 || nowMs < notBeforeMs || nowMs < lastMs + backup.every_hours * HOUR_MS) {
        if (nowMs >= notBeforeMs) await copyAgain(nowMs);
        return null;
      }
      notBeforeMs = nowMs + RETRY_MS;
      try {
        const lock = lockOf(backup);
        const name = `selvedge-${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z.tar.gz${lock === null ? "" : ".age"}`;
        const controlPath = controlPathOf(databaseUrl({ data, backup, ...rest }));
        const file = join(backup.directory, name);
        const { bytes } = await inThread({ dataDir: data, controlPath, file, lock, version: packageVersion() });
        const removed = removeOld(backup.directory, backup.files_max);
        if (backup.in_s3) uncopied = name;
        await copy(config());
        return { file, bytes, removed };
      } catch (error) {
        failed.value++;
        throw error;
      }
    },
  };
}

function lockOf({ passphrase_file, recipients }: Config["backup"]): AgeLock | null {
  if (recipients.length > 0) return { recipients };
  return passphrase_file === "" ? null : { passphrase: readPassphrase(passphrase_file, (path) => readRegularFile(path).toString()) };
}

function inThread(request: Omit<BackupRequest, "clock">): Promise<BackupMade> {
  const worker = new Worker(new URL(import.meta.resolve("#app/backup/backup-thread.ts")), { name: "backup", workerData: request });
  const limit = setTimeout(() => void worker.terminate(), BACKUP_MS_MAX);
  return new Promise<BackupMade>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the backup took too long")));
  }).finally(() => clearTimeout(limit));
}

/** Deletes the oldest scheduled backups above the limit; other files in the directory are not ours. */
function removeOld(directory: string, kept: number): number {
  const old = existsSync(directory)
    ? readdirSync(directory)
        .filter((name) => NAME.test(name))
        .toSorted()
        .slice(0, -kept)
    : [];
  for (const name of old) rmSync(join(directory, name), { force: true });
  return old.length;
}
