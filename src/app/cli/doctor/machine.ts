import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { DatabaseState } from "#store/database/inspect.ts";
import { openKeyFile, requireOwnKey } from "#store/database/key-file.ts";
import type { LastBackup } from "#app/backup/last-backup.ts";
import type { Config } from "#app/config/config.ts";
import { readTls } from "#app/config/tls-files.ts";
import { type Finding, good, wrong } from "./findings.ts";

// The machine on which a server is to run: what the system gives it, and files beside its data.

/** A server with a few hundred clients needs this many; Node.js raises its soft limit to the hard one by itself. */
const OPEN_FILES_MIN = 4096;
const FREE_BYTES_MIN = 256_000_000;
/** The clocks of file systems differ from the system's by less. */
const CLOCK_SLACK_MS = 300_000;
const DAY_MS = 86_400_000;
const EXPIRES_SOON_DAYS = 14;
const HOUR_MS = 3_600_000;

export function checkOpenFiles(limits = readFileSync("/proc/self/limits", "utf8")): Finding {
  const what = "open files";
  const line = limits.split("\n").find((one) => one.startsWith("Max open files")) ?? "";
  // The soft limit, then the hard one (proc_pid_limits(5)).
  const hard = line.split(" ").filter(Boolean)[4] ?? "unlimited";
  if (hard === "unlimited" || Number(hard) >= OPEN_FILES_MIN) return good(what, `good, at most ${hard}`);
  return wrong(
    what,
    `this user's programs may have only ${hard} files and connections open at a time, and each visitor needs one or two`,
    "Set LimitNOFILE=1048576 in the unit of the service, or ulimit -Hn in the shell that starts the server",
  );
}

export function checkDisk(directory: string): Finding {
  const what = "disk";
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  const megabytes = Math.floor(free / 1_000_000);
  if (free >= FREE_BYTES_MIN) return good(what, `good, ${megabytes} MB free`);
  return wrong(
    what,
    `the disk of ${directory} has only ${megabytes} MB left; when it is full, the API accepts no change and events are lost`,
    "Make room, move the directory to a larger disk (--data), or lower events.bytes_max and the caches' disk_bytes_max",
  );
}

/** A clock that is behind its own files is wrong; one that is ahead shows no sign of it. */
export function checkClock(directory: string, clock: Pick<Clock, "nowMs">): Finding {
  const what = "clock";
  const newest = Math.max(...readdirSync(directory).map((name) => modifiedMs(join(directory, name))), 0);
  const behindMs = newest - clock.nowMs();
  if (behindMs <= CLOCK_SLACK_MS) return good(what, `${new Date(clock.nowMs()).toISOString()}, not before the newest file`);
  return wrong(
    what,
    `it shows ${new Date(clock.nowMs()).toISOString()}, but a file in ${directory} was written at ${new Date(newest).toISOString()}: certificates, tokens and signatures would be refused or accepted at the wrong time`,
    "Set the clock, and turn on NTP (timedatectl set-ntp true)",
  );
}

const modifiedMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function opens(sealKey: string, keyCheck: string): boolean {
  try {
    requireOwnKey(createSealer(openKeyFile({ path: sealKey, databaseExists: true })), keyCheck);
    return true;
  } catch {
    return false;
  }
}

/** The server refuses a key that other users may read. */
export function checkPermissions(sealKey: string, database: Pick<DatabaseState, "exists" | "keyCheck"> | null): Finding {
  const what = "permissions";
  if (!existsSync(sealKey) && database?.exists === true)
    return wrong(what, `${sealKey} is missing, and secrets in the database are sealed with it`, "Restore the file from a backup");
  if (!existsSync(sealKey)) return good(what, "good, no key yet");
  const { mode, uid } = statSync(sealKey);
  const own = process.geteuid?.() ?? 0;
  if ((mode & 0o077) !== 0)
    return wrong(what, `other users may read or change ${sealKey} (mode ${(mode & 0o777).toString(8)})`, `Run: chmod 600 ${sealKey}`);
  if (own !== 0 && uid !== own) return wrong(what, `${sealKey} belongs to another user (${uid})`, "Run the server as that user");
  if (database !== null && database.keyCheck !== null && !opens(sealKey, database.keyCheck))
    return wrong(what, `${sealKey} does not open the secrets in the database`, "Restore the file from the backup of that database");
  return good(what, "good, only this user can read the key");
}

/** Of the management API and the AI gateway. */
export function checkCertificate(tls: Config["tls"], clock: Pick<Clock, "nowMs">): Finding {
  const what = "certificate";
  const advice = "Renew it, or set tls.certificate and tls.key to other files; selvedge reload puts a new one in force";
  if (tls.certificate === "") return good(what, "none: the management API and the AI gateway use plain HTTP");
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  try {
    const chain = readTls(tls).tls?.certificate ?? "";
    const { validFromDate, validToDate } = new X509Certificate(chain);
    const days = Math.floor((validToDate.getTime() - clock.nowMs()) / DAY_MS);
    const day = validToDate.toISOString().slice(0, 10);
    if (validToDate.getTime() <= clock.nowMs()) return wrong(what, `the certificate in ${tls.certificate} expired on ${day}`, advice);
    if (validFromDate.getTime() > clock.nowMs())
      return wrong(what, `the certificate in ${tls.certificate} is not valid before ${validFromDate.toISOString()}`, advice);
    if (days < EXPIRES_SOON_DAYS) return wrong(what, `the certificate in ${tls.certificate} expires on ${day}, in ${days} days`, advice);
    return good(what, `good until ${day}`);
  } catch (error) {
    return wrong(what, (error as Error).message, "Set tls.certificate and tls.key to a certificate and the key that belongs to it");
  }
}

/** Every second backup may fail without a word here; with two missing, something is wrong. */
export function checkBackup(last: LastBackup | null, { every_hours: hours }: Config["backup"], clock: Pick<Clock, "nowMs">): Finding {
  const what = "last backup";
  const known = last === null ? "none" : `${last.created_on}, ${last.file} (${last.bytes} bytes)`;
  const isLate = hours > 0 && last !== null && clock.nowMs() - Date.parse(last.created_on) > 2 * hours * HOUR_MS;
  if (isLate)
    return wrong(
      what,
      `the last one is of ${last.created_on}, although backup.every_hours is ${hours}`,
      "Look for failed backups in the server's log, and at the disk and the permissions of backup.directory; make one now with selvedge backup",
    );
  return good(what, last === null ? "none: create one with selvedge backup" : known);
}
