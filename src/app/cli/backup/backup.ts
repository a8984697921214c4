import { readFileSync } from "node:fs";
import { systemClock } from "#kernel/clock.ts";
import { type AgeKey, type AgeLock, isRecipient } from "#kernel/crypto/age-keys.ts";
import { databaseUrl, loadConfig } from "#app/config/config.ts";
import { controlPathOf, readPassphrase } from "#app/backup/backup-files.ts";
import { makeBackup } from "#app/backup/make-backup.ts";
import { restoreBackup } from "#app/backup/restore-backup.ts";
import { packageVersion } from "#app/config/package-version.ts";
import { configInput } from "#app/cli/config-input.ts";
import { CliError, complain, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";

export interface BackupOptions {
  readonly passphraseFile?: string;
  readonly recipient?: readonly string[];
}

/** Backs up the data directory of a running or stopped server. */
export async function backup(file: string, options: BackupOptions, flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  const lock = lockOf(options);
  const controlPath = controlPathOf(databaseUrl(config));
  // The work directory is deleted with the process.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(EXIT.failed));
  const made = await spoken(() =>
    makeBackup({ dataDir: config.data, controlPath, file, lock, version: packageVersion(), clock: systemClock }),
  );
  if (controlPath === null)
    complain(["the control database is not in this backup, because it is not in the data directory: back it up with pg_dump as well"]);
  if (lock === null) complain([`${made.file} is not encrypted, and holds the key to every secret: keep it where only you can read it`]);
  print(config.json, made, [`${made.file}  ${made.bytes} bytes`]);
  return EXIT.ok;
}

export interface RestoreOptions {
  readonly passphraseFile?: string;
  readonly identityFile?: string;
}

/** Makes an empty data directory out of a backup. */
export async function restore(file: string, options: RestoreOptions, flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  const { manifest, parts } = await spoken(() => restoreBackup({ file, dataDir: config.data, key: keyOf(options), clock: systemClock }));
  const lines = [
    `restored the backup of ${manifest.created_on} into ${config.data}`,
    ...(manifest.database === "included"
      ? []
      : ["the control database is not in this backup: restore it with pg_restore before you start the server"]),
    `start the server with: selvedge start --data ${config.data}`,
  ];
  print(
    config.json,
    { data: config.data, created_on: manifest.created_on, version: manifest.version, database: manifest.database, parts },
    lines,
  );
  return EXIT.ok;
}

function lockOf({ passphraseFile, recipient = [] }: BackupOptions): AgeLock | null {
  if (passphraseFile !== undefined && recipient.length > 0)
    throw new CliError("choose --passphrase-file or --recipient: one backup cannot have both", EXIT.usage);
  for (const text of recipient)
    if (!isRecipient(text)) throw new CliError(`--recipient must be a public key that age-keygen printed (age1…), not ${text}`, EXIT.usage);
  if (recipient.length > 0) return { recipients: recipient };
  return passphraseFile === undefined ? null : { passphrase: passphraseIn(passphraseFile) };
}

function keyOf({ passphraseFile, identityFile }: RestoreOptions): AgeKey | null {
  if (passphraseFile !== undefined && identityFile !== undefined)
    throw new CliError("choose --passphrase-file or --identity-file", EXIT.usage);
  if (passphraseFile !== undefined) return { passphrase: passphraseIn(passphraseFile) };
  if (identityFile === undefined) return null;
  const identity = readOrComplain(identityFile)
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line.startsWith("AGE-SECRET-KEY-1"));
  if (identity === undefined) throw new CliError(`${identityFile} has no line that begins with AGE-SECRET-KEY-1`, EXIT.usage);
  return { identity };
}

function passphraseIn(file: string): string {
  try {
    return readPassphrase(file);
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.usage);
  }
}

function readOrComplain(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${(error as Error).message}`, EXIT.usage);
  }
}

/** The operator can fix any error with files. */
async function spoken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error ? new CliError(plain(error)) : error;
  }
}

const CAUSES: Readonly<Record<string, string>> = {
  EACCES: "this user may not use",
  ENOENT: "this does not exist:",
  EISDIR: "this is a directory:",
  ENOTDIR: "a part of this path is a file:",
  ENOSPC: "the disk is full:",
  EROFS: "the file system is read-only:",
};

/** Errors of the system name a call that no operator knows. */
function plain(error: NodeJS.ErrnoException): string {
  const cause = CAUSES[error.code ?? ""];
  return cause === undefined || error.path === undefined ? error.message : `${cause} ${error.path}`;
}
