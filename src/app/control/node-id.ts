import { readFileSync, writeFileSync } from "node:fs";
import { newId } from "#kernel/crypto/ids.ts";

/**
 * The name of this node in records of its events, from a file beside them. Created at the first start, and again if the
 * file has other content. Throws if the directory is not writable.
 */
export function nodeIdIn(path: string): string {
  const known = read(path);
  if (known !== null) return known;
  const id = newId();
  writeFileSync(path, `${id}\n`);
  return id;
}

function read(path: string): string | null {
  try {
    return /^([0-9a-f]{32})\s*$/.exec(readFileSync(path, "utf8"))?.[1] ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
