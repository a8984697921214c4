import { readFileSync, writeFileSync } from "node:fs";
import { newId } from "#kernel/crypto/ids.ts";

/**
 * The name of this node in what it writes down of its events, from a file beside them. Made with the first start, and anew where
 * the file holds something else. Throws where the directory cannot be written to.
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
