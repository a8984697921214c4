import { chownSync, lchownSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Files that root has made in the data directory of a service get the owner of the directory: the service could not
 * open them otherwise. Without names: everything in it.
 */
export function giveToOwner(directory: string, names?: readonly string[]): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(directory);
  if (uid === 0) return;
  if (names !== undefined) for (const name of names) chownSync(join(directory, name), uid, gid);
  else for (const name of readdirSync(directory, { recursive: true })) lchownSync(join(directory, String(name)), uid, gid);
}
