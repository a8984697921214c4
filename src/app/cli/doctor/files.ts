import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "#app/config/config.ts";
import { type Finding, wrong } from "./findings.ts";

const mayUse = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
};

/** Whether a file is there, and this user may read it. */
export const isReadable = (path: string): boolean => mayUse(path, constants.R_OK);

/** Files of the data directory that this user may not change: those that another user, often root, has left. */
export function checkFiles(dataDir: string): readonly Finding[] {
  const paths = readdirSync(dataDir).map((name) => join(dataDir, name));
  const closed = paths.filter((path) => existsSync(path) && !mayUse(path, constants.R_OK | constants.W_OK));
  if (closed.length === 0) return [];
  const { uid, gid } = statSync(dataDir);
  const cause = `this user may not read and write ${closed.join(", ")}`;
  return [wrong("files", cause, `Run as root: chown -R ${uid}:${gid} ${dataDir}; or run the server as the owner of these files`)];
}

/** Where scheduled backups go. The server creates the directory. */
export function checkBackupDirectory({ every_hours: hours, directory }: Config["backup"]): readonly Finding[] {
  if (hours === 0) return [];
  let existing = directory;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  if (mayUse(existing, constants.W_OK | constants.X_OK)) return [];
  const cause = `this user may not write in ${existing}, so that no scheduled backup is made`;
  return [wrong("backup directory", cause, "Give the directory to the user of the server, or set backup.directory to another one")];
}
