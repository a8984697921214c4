import { lstat, readdir, unlink } from "node:fs/promises";
import { join, sep } from "node:path";

/** Some installations' worth: Node keeps about 60 MB for one, apart for each version of itself and each path. */
const BYTES_MAX = 256_000_000;
/** When the start and what follows it are over. */
const AFTER_MS = 60_000;
const FILES_MAX = 200_000;
const OUR_DIRECTORY = join(sep, "selvedge", "compiled");

/**
 * Node adds to the directory of compiled code (bin/run.js) and never takes anything away. Once a start, what has not been used for
 * longest goes where it has become too much. A directory of the operator's choice is the operator's to clean.
 */
export function keepCompiledCodeSmall(directory = process.env["NODE_COMPILE_CACHE"] ?? ""): void {
  if (!directory.endsWith(OUR_DIRECTORY)) return;
  setTimeout(() => void pruneCompiledCode(directory, BYTES_MAX), AFTER_MS).unref();
}

interface Entry {
  readonly path: string;
  readonly bytes: number;
  /** Written or, as far as the file system says, read. */
  readonly usedMs: number;
}

/** Leaves at most half of `bytesMax` where there was more than all of it; gives the number of files that went. Never rejects. */
export async function pruneCompiledCode(directory: string, bytesMax: number): Promise<number> {
  const entries: Entry[] = [];
  // One of these for each version of Node.
  for (const version of await namesIn(directory)) {
    for (const name of await namesIn(join(directory, version))) {
      if (entries.length >= FILES_MAX) break;
      const path = join(directory, version, name);
      const found = await lstat(path).catch(() => null);
      if (found?.isFile()) entries.push({ path, bytes: found.size, usedMs: Math.max(found.mtimeMs, found.atimeMs) });
    }
  }
  let left = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  if (left <= bytesMax) return 0;
  let gone = 0;
  for (const { path, bytes } of entries.toSorted((a, b) => a.usedMs - b.usedMs)) {
    if (left <= bytesMax / 2) break;
    left -= bytes;
    // Another server may clean as well; who still wants the code compiles it again.
    if (
      await unlink(path).then(
        () => true,
        () => false,
      )
    )
      gone++;
  }
  return gone;
}

/** None where there is no such directory. */
const namesIn = (directory: string): Promise<readonly string[]> => readdir(directory).catch(() => []);
