import { lstat, readdir, unlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** Twenty installations' worth: each keeps 12 MB of its program, apart for each path. */
const BYTES_MAX = 256_000_000;
/** When the start and what follows it are over. */
const AFTER_MS = 60_000;
const FILES_MAX = 10_000;

/**
 * Every path that a server was started from leaves its program (bin/kept-program.js), and nothing takes it away when the path
 * is gone. Once a start, what has not been used for longest goes where it has become too much.
 */
export function keepProgramsFew(): void {
  const directory = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "selvedge", "program");
  setTimeout(() => void prunePrograms(directory, BYTES_MAX), AFTER_MS).unref();
}

interface Entry {
  readonly path: string;
  readonly bytes: number;
  /** Written or, as far as the file system says, read. */
  readonly usedMs: number;
}

/** Leaves at most half of `bytesMax` where there was more than all of it; gives the number of files that went. Never rejects. */
export async function prunePrograms(directory: string, bytesMax: number): Promise<number> {
  const entries: Entry[] = [];
  // None where there is no such directory.
  for (const name of (await readdir(directory).catch(() => [])).slice(0, FILES_MAX)) {
    const path = join(directory, name);
    const found = await lstat(path).catch(() => null);
    if (found?.isFile()) entries.push({ path, bytes: found.size, usedMs: Math.max(found.mtimeMs, found.atimeMs) });
  }
  let left = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  if (left <= bytesMax) return 0;
  let gone = 0;
  for (const { path, bytes } of entries.toSorted((a, b) => a.usedMs - b.usedMs)) {
    if (left <= bytesMax / 2) break;
    left -= bytes;
    // Another server may clean as well; who still wants the file writes it again.
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
